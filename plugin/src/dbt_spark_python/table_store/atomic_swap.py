"""Replaces a folder by another in one step, so that a reader sees either the old or the new one."""

import ctypes
import os
import platform
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # Linux, renameat2(2)
_RENAME_SWAP = 2  # macOS, renamex_np(2)


def replace_folder(new: Path, place: Path, aside: Path) -> None:
    """Move the folder `new` to `place`; the old folder is then at `new` or at `aside`, for the caller to remove.

    All are on one file system. If it can exchange two names atomically, there is always a folder at `place`. Otherwise
    two renames follow each other; a process killed between them leaves `aside`, which the caller has to move back.

    Raises:
        OSError: The file system refuses; both folders still exist.
    """
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        os.rename(new, place)
    elif not _exchange(new, place):
        os.rename(place, aside)
        os.rename(new, place)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names atomically; return False if that fails for any reason."""
    names = os.fsencode(one), os.fsencode(other)
    libc = ctypes.CDLL(None)
    try:
        if platform.system() == "Linux":
            return libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0
        if platform.system() == "Darwin":
            return libc.renamex_np(*names, _RENAME_SWAP) == 0
    except AttributeError:  # a C library without the call
        pass
    return False
