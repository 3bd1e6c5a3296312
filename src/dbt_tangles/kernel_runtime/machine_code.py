"""Disk cache for the machine code of kernels, shared by the processes of a machine.

Numba's own cache lies beside the source, checks only that one file for changes, and lacks a suitable folder for sources
imported from a zip file, as workers of a cluster do. Here the key is a digest of the function's module and of all
modules it imports, directly or indirectly, from its own package or from this one. The cache uses the first writable
folder of this list:

* the folder in NUMBA_CACHE_DIR;
* `__pycache__` beside the source;
* the user's cache folder;
* the folder for temporary files.

Files of the cache are executed. Except beside the source, the cache therefore needs a folder that belongs to the user
alone and that other users cannot replace.

A lock per file lets one process compile a kernel while the others wait for the result.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from glob import escape
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numba
from numba.core import config
from numba.core.base import BaseContext
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

#: Seconds after which the code of other sources is removed; until then, several versions of the sources share a cache.
MAX_AGE_S = 7 * 24 * 3600
#: Seconds to wait for another process that compiles the same code; the slowest kernel takes a fifth of that.
LOCK_TIMEOUT_S = 120

_PACKAGE = __package__.partition(".")[0]

#: Suffixes of file names: machine code, and the lock of a process that compiles it.
CODE, LOCK = ".nbc", ".lock"

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)(?:[ \t]+import[ \t]+(\([^)]*\)|.+))?", re.MULTILINE)


class _SignatureFiles:
    """Cache files, one per signature, each written atomically and named by a digest of its key.

    Numba's own cache has an index file. Two processes that write it at once may lose an entry, or load code of another
    entry.
    """

    def __init__(self, place: Path, name: str, digest: str, line: int) -> None:
        self.place, self.name, self.digest, self.line = place, name, digest, line
        self._locks: dict[Path, int | None] = {}  # lock files held while this process compiles

    def path(self, key: tuple) -> Path:
        signature, machine, source = key
        description = repr((numba.__version__, str(signature), machine, source, self.line))
        return self.place / f"{self.name}-{self.digest}-{sha256(description.encode()).hexdigest()[:16]}{CODE}"

    def load(self, key: tuple):
        """Load the code; if it is absent, take the lock to compile it while others wait."""
        path = self.path(key)
        found = self._read(key)
        if found is None and path not in self._locks:
            self._locks[path] = acquire_lock(path.with_suffix(LOCK))
            found = self._read(key)
            if found is not None:
                self.release_locks()
        return found

    def _read(self, key: tuple):
        try:
            known_key, data = pickle.loads(self.path(key).read_bytes())
        except (FileNotFoundError, EOFError, pickle.UnpicklingError):
            return None
        return data if known_key == key else None

    def release_locks(self) -> None:
        """Release the locks: the code is in the cache, or cannot be cached."""
        while self._locks:
            path, held = self._locks.popitem()
            if held is not None:
                with suppress(OSError):
                    path.with_suffix(LOCK).unlink()
                os.close(held)

    def save(self, key: tuple, data) -> None:
        handle, name = tempfile.mkstemp(dir=self.place, prefix=f"{self.name}-")
        try:
            with open(handle, "wb") as file:
                file.write(dumps((key, data)))
            os.replace(name, self.path(key))
        except BaseException:
            os.unlink(name)
            raise
        for other in self.place.glob(f"{escape(self.name)}-*"):
            if self.digest not in other.name and other.stat().st_mtime < time.time() - MAX_AGE_S:
                other.unlink(missing_ok=True)


def acquire_lock(place: Path) -> int | None:
    """Lock a file, waiting for the process that holds it.

    Returns:
        The open file descriptor, locked until it is closed or this process ends; absent after a timeout, or if locking
        fails.
    """
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    try:
        opened = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    while True:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return opened
        except OSError as error:
            if not isinstance(error, BlockingIOError) or time.monotonic() >= deadline:
                os.close(opened)
                return None
        time.sleep(0.05)


class _Locator:
    """Locates the cache folder, for numba."""

    def __init__(self, function: Callable, file: str, place: Path) -> None:
        self._py_file, self.place, self.module = file, place, function.__module__

    @classmethod
    def from_function(cls, function: Callable, file: str) -> _Locator | None:
        place = cache_folder(str(Path(file).parent))
        return cls(function, file, place) if place and source_digest(function.__module__) else None

    def get_cache_path(self) -> str:
        return str(self.place)

    def ensure_cache_path(self) -> None:
        """Do nothing: without the folder, code is not cached."""

    def get_source_stamp(self) -> str | None:
        return source_digest(self.module)

    def get_disambiguator(self) -> str:
        return self.module.rpartition(".")[0]


class _Impl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class MachineCode(FunctionCache):
    """The machine code cache of one function, for numba.

    Errors in reading or writing a file are ignored: the function is then compiled as if the file were absent.
    """

    @classmethod
    def of(cls, function: Callable) -> MachineCode | None:
        """Create the cache of a function, if there are a cache folder and a source."""
        return cls(function) if _Locator.from_function(function, function.__code__.co_filename) else None

    _impl_class = _Impl

    def __init__(self, function: Callable) -> None:
        """Replace numba's index by one file per signature."""
        super().__init__(function)
        line = function.__code__.co_firstlineno
        self._cache_file = _SignatureFiles(
            Path(self._cache_path), self._impl.filename_base, source_digest(function.__module__), line
        )

    def has(self, types: tuple, target_context: BaseContext) -> bool:
        """Whether there is a file for arguments of these types; it may be damaged."""
        return self._cache_file.path(self._index_key(types, target_context.codegen())).exists()

    def load_overload(self, sig, target_context):
        """Load the code for a signature, if it is cached."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # A damaged file may raise any error.
            return None

    def save_overload(self, sig, data):
        """Cache the code for a signature, if possible."""
        with suppress(OSError):
            super().save_overload(sig, data)
        self._cache_file.release_locks()


@cache
def source_digest(module: str) -> str | None:
    """Compute a digest of the source of a module and of all modules it imports, directly or indirectly.

    Args:
        module: Its full name. Only modules of its own package and of this one are included.

    Returns:
        16 hexadecimal digits, if the source can be read.
    """
    packages = {module.partition(".")[0], _PACKAGE}
    sources: dict[str, str | None] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources and name.partition(".")[0] in packages:
            sources[name] = _source(name)
            waiting += _imports(sources[name] or "")
    if sources.get(module) is None:
        return None
    return sha256(repr(sorted((name, text) for name, text in sources.items() if text)).encode()).hexdigest()[:16]


@cache
def cache_folder(folder: str) -> Path | None:
    """Find the cache folder for the sources in a folder, if one is writable."""
    for place, must_be_private in _candidate_folders(Path(folder)):
        try:
            place.mkdir(mode=0o700 if must_be_private else 0o777, exist_ok=True)
            if must_be_private and not is_private(place):
                continue
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        return place
    return None


def is_private(place: Path) -> bool:
    """Whether a folder belongs to this user alone, and other users cannot replace it.

    Args:
        place: Its path, without symbolic links.
    """
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        return False
    for folder in place.parents:
        found = folder.lstat()
        is_open = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
        if is_open or found.st_uid not in (0, os.geteuid()):
            return False
    return True


def _candidate_folders(folder: Path) -> Iterator[tuple[Path, bool]]:
    """List the candidate folders in order of preference, and whether each must be private to the user."""
    own = f"{_PACKAGE}-{os.geteuid()}"
    if config.CACHE_DIR:
        with suppress(OSError):
            Path(config.CACHE_DIR).mkdir(parents=True, exist_ok=True)
        yield Path(config.CACHE_DIR).resolve() / own, True
    if folder.is_dir():
        yield folder / "__pycache__", False
    for parent in (os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~/.cache"), tempfile.gettempdir()):
        if parent and os.path.isabs(parent):
            yield Path(parent).resolve() / own, True


_package = cache(files)


@cache
def _source(module: str) -> str | None:
    """Read the source of a module, from a folder or a zip file, if it is found."""
    package, _, rest = module.partition(".")
    path = rest.replace(".", "/")
    try:
        for name in (f"{path}.py", f"{path}/__init__.py") if path else ("__init__.py",):
            file = _package(package) / name
            if file.is_file():
                return file.read_text("utf-8")
    except (AttributeError, ImportError, OSError, TypeError, ValueError):
        pass
    return None


def _imports(source: str) -> Iterator[str]:
    """List the names that a source imports: modules, and names that may be modules."""
    for module, names in _IMPORT.findall(source):
        yield module
        for name in re.findall(r"\w+", names):
            yield f"{module}.{name}"
