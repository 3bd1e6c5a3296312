"""Puts a folder in the place of another, so that whoever looks sees one or the other."""

import ctypes
import os
import platform
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # Linux, renameat2(2)
_RENAME_SWAP = 2  # macOS, renamex_np(2)


def replace_folder(new: Path, place: Path, aside: Path) -> None:
    """Move the folder `new` to `place`; what was there is then at `new` or at `aside`, for the caller to remove.

    Where the file system can exchange two names at once, there is no moment without a folder at `place`. Elsewhere
    two renames follow each other; whoever is killed between them leaves `aside`, from which `restore_folder` mends.

    Args:
        new: A folder on the same file system.
        place: Where it goes.
        aside: Beside `place`; must not exist.

    Raises:
        OSError: The file system refuses; nothing is lost.
    """
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        os.rename(new, place)
    elif not _exchange(new, place):
        os.rename(place, aside)
        os.rename(new, place)


def restore_folder(place: Path, aside: Path) -> bool:
    """Bring `aside` back where a killed `replace_folder` left nothing at `place`; tells whether it did."""
    if place.exists() or not aside.exists():
        return False
    os.rename(aside, place)
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where the system or the file system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if platform.system() == "Linux":
            return libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0
        if platform.system() == "Darwin":
            return libc.renamex_np(*names, _RENAME_SWAP) == 0
    except AttributeError:  # a C library without the call
        pass
    return False
