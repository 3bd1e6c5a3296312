"""The folder for the machine code of kernels, shared by the processes of a machine.

A folder's name has a digest of all sources that kernels are made of, so that code of other sources is never found. The
folder is the first of these that can be written to:

* in NUMBA_CACHE_DIR;
* in `__pycache__` beside the source;
* in the user's cache folder;
* in the folder for temporary files.

Files of the cache are executed. Except beside the source, the folder therefore lies in one that belongs to the user
alone and that other users cannot replace. This module works without numba, which takes a second to import.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.abc import Traversable

#: Seconds after which the code of other sources is removed; until then, several versions of the sources share a cache.
MAX_AGE_S = 7 * 24 * 3600

_PACKAGE = __package__.partition(".")[0]
_LOCK = "lock"


@cache
def source_digest() -> str:
    """Compute a digest of all sources of this package, and of numba's version: 16 hexadecimal digits."""
    found = sha256(version("numba").encode())
    for text in _texts(files(_PACKAGE)):
        found.update(sha256(text).digest())
    return found.hexdigest()[:16]


def _texts(folder: Traversable) -> Iterator[bytes]:
    """Read the sources of a package, which may be in a zip file."""
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _texts(each)
        elif each.name.endswith(".py"):
            yield each.name.encode() + each.read_bytes()


@cache
def cache_folder() -> Path | None:
    """Find the folder for machine code of these sources, if one is writable, and remove old ones beside it."""
    for parent, mode in _parents():
        place = parent / f"kernels-{source_digest()}"
        try:
            for folder in (parent, place):
                folder.mkdir(mode=mode, exist_ok=True)
            if mode == 0o700 and not is_private(parent):
                continue
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        for other in parent.glob("kernels-*"):
            with suppress(OSError):
                if other != place and other.stat().st_mtime < time.time() - MAX_AGE_S:
                    shutil.rmtree(other)
        return place
    return None


class Locator(NamedTuple):
    """Tells numba where the machine code of a function is cached (NUMBA_CACHE_LOCATOR_CLASSES)."""

    module: str
    get_source_stamp = staticmethod(source_digest)

    @classmethod
    def from_function(cls, function: Callable, _file: str = "") -> Locator | None:
        """Return the locator of a function of this package, if its code can be cached."""
        module = function.__module__
        return cls(module) if module.startswith(f"{_PACKAGE}.") and cache_folder() else None

    def ensure_cache_path(self) -> None:
        """Do nothing: `cache_folder` made the folder."""

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(cache_folder())

    def get_disambiguator(self) -> str:
        """Return the module, because two modules may have functions of one name."""
        return self.module


def _parents() -> Iterator[tuple[Path, int]]:
    """List the candidates for the parent folder in order of preference, with their modes."""
    own = f"{_PACKAGE}-{os.geteuid()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        with suppress(OSError):
            Path(chosen).mkdir(parents=True, exist_ok=True)
        yield Path(chosen).resolve() / own, 0o700
    yield Path(__file__).parent / "__pycache__", 0o777
    for parent in (os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~/.cache"), tempfile.gettempdir()):
        if parent and os.path.isabs(parent):
            yield Path(parent).resolve() / own, 0o700


def is_private(place: Path) -> bool:
    """Whether a folder, named without symbolic links, belongs to this user alone and no other user can replace it."""
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        return False
    for folder in place.parents:
        found = folder.lstat()
        is_open = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
        if is_open or found.st_uid not in (0, os.geteuid()):
            return False
    return True


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Hold the lock of the cache, if possible, while a kernel is compiled or loaded: other processes wait for its code.

    The lock ends with the process.
    """
    with ExitStack() as held:
        if place := cache_folder():
            with suppress(OSError):
                lock = held.enter_context(open(place / _LOCK, "ab", buffering=0))
                fcntl.flock(lock, fcntl.LOCK_EX)
                lock.truncate(0)
                lock.write(name.encode())
        yield


def compiling_line(since: float) -> str | None:
    """Report how many kernels were compiled since a time, and the one that any process is compiling now, if any.

    A process that died may have left the file, unlocked.
    """
    if place := cache_folder():
        try:
            with open(place / _LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            done = sum(file.stat().st_mtime >= since for file in place.glob("*.nbc"))
            return f"compiling kernels, once a machine: {done} done, now {(place / _LOCK).read_text()}"
        except OSError:
            pass
    return None
