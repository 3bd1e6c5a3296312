"""Folders that only their owner can read, whatever the umask of those who wrote them."""

import os
import stat
from pathlib import Path

_FOLDER, _FILE = 0o700, 0o600


def restrict(folder: Path) -> None:
    """Take a folder, and all that is in it, from everybody but its owner; the folder first.

    Raises:
        OSError: They are somebody else's.
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
