"""Restricts folders to their owner, regardless of the umask under which they were written."""

import os
import stat
from pathlib import Path

_FOLDER, _FILE = 0o700, 0o600


def restrict(folder: Path) -> None:
    """Remove all access for group and others from a folder and its contents; the folder itself comes first.

    Raises:
        OSError: Another user owns them.
    """
    _set(folder, _FOLDER)
    for place, folders, files in os.walk(folder):
        for name in folders:
            _set(Path(place, name), _FOLDER)
        for name in files:
            _set(Path(place, name), _FILE)


def _set(path: Path, mode: int) -> None:
    if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)
