"""Where the machine code of kernels is kept from one process to the next.

Numba keeps it beside the source, looks at that one file to see whether it is stale, and knows no good place for what
is imported out of a zip file, as workers of a cluster do. Here it counts for a digest of the function's module and of
all modules that this one imports, over any number of steps, as far as they are of the same package or of this one. It
is kept in the first of these places that can be written to:

* the folder that NUMBA_CACHE_DIR names;
* `__pycache__` beside the source, where Python keeps its own;
* the user's cache folder;
* the folder for temporary files.

What is read there is run. Everywhere but beside the source it is therefore in a folder that is the user's alone, and
that nobody else can put another in the place of.

Processes of one machine do not make the same code at once: one does, and the others wait for it.
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

#: Seconds after which the code of other sources is removed. Jobs of several editions may run on one machine.
KEPT_S = 7 * 24 * 3600
#: Seconds to wait for another process that makes the same code; the slowest kernel takes a fifth of that.
PATIENCE_S = 120

_PACKAGE = __package__.partition(".")[0]

#: How the names of files end: of machine code, and of the lock of a process that makes some.
CODE, TURN = ".nbc", ".turn"

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)(?:[ \t]+import[ \t]+(\([^)]*\)|.+))?", re.MULTILINE)


class _SignatureFiles:
    """Files that are whole or not there, each of a name that says what is in it.

    Numba's own have an index. Two processes that write at once may then lose an entry, or read code for another.
    """

    def __init__(self, place: Path, name: str, stamp: str, line: int) -> None:
        self.place, self.name, self.stamp, self.line = place, name, stamp, line
        self._turns: dict[Path, int | None] = {}  # open files, of what this process makes

    def path(self, key: tuple) -> Path:
        signature, machine, source = key
        said = repr((numba.__version__, str(signature), machine, source, self.line))
        return self.place / f"{self.name}-{self.stamp}-{sha256(said.encode()).hexdigest()[:16]}{CODE}"

    def load(self, key: tuple):
        """The code; None where this process is to make it, for all that wait."""
        path = self.path(key)
        found = self._read(key)
        if found is None and path not in self._turns:
            self._turns[path] = wait_for_turn(path.with_suffix(TURN))
            found = self._read(key)
            if found is not None:
                self.end_turns()
        return found

    def _read(self, key: tuple):
        try:
            known_key, data = pickle.loads(self.path(key).read_bytes())
        except (FileNotFoundError, EOFError, pickle.UnpicklingError):
            return None
        return data if known_key == key else None

    def end_turns(self) -> None:
        """Let others go on: the code is there, or there is none that could be kept."""
        while self._turns:
            path, held = self._turns.popitem()
            if held is not None:
                with suppress(OSError):
                    path.with_suffix(TURN).unlink()
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
            if self.stamp not in other.name and other.stat().st_mtime < time.time() - KEPT_S:
                other.unlink(missing_ok=True)


def wait_for_turn(place: Path) -> int | None:
    """Wait until no other process has this file open as its own.

    Returns:
        The file, open, which ends with this process; None if that takes too long, or nothing can be locked there.
    """
    patience = time.monotonic() + PATIENCE_S
    try:
        opened = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    while True:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return opened
        except OSError as error:
            if not isinstance(error, BlockingIOError) or time.monotonic() >= patience:
                os.close(opened)
                return None
        time.sleep(0.05)


class _Locator:
    """What numba asks for a place."""

    def __init__(self, function: Callable, file: str, place: Path) -> None:
        self._py_file, self.place, self.module = file, place, function.__module__

    @classmethod
    def from_function(cls, function: Callable, file: str) -> _Locator | None:
        place = place_for(str(Path(file).parent))
        return cls(function, file, place) if place and stamp(function.__module__) else None

    def get_cache_path(self) -> str:
        return str(self.place)

    def ensure_cache_path(self) -> None:
        """Do nothing: if the folder is gone, nothing is kept."""

    def get_source_stamp(self) -> str | None:
        return stamp(self.module)

    def get_disambiguator(self) -> str:
        return self.module.rpartition(".")[0]


class _Impl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class MachineCode(FunctionCache):
    """What numba asks for the machine code of one function.

    A file that cannot be read or written never fails: the function is compiled then, as if there were none.
    """

    @classmethod
    def of(cls, function: Callable) -> MachineCode | None:
        """Find where the code of a function is; None where nothing can be kept or the source is not known."""
        return cls(function) if _Locator.from_function(function, function.__code__.co_filename) else None

    _impl_class = _Impl

    def __init__(self, function: Callable) -> None:
        """Let numba do what it does, but with one file for each signature."""
        super().__init__(function)
        line = function.__code__.co_firstlineno
        self._cache_file = _SignatureFiles(
            Path(self._cache_path), self._impl.filename_base, stamp(function.__module__), line
        )

    def has(self, types: tuple, target_context: BaseContext) -> bool:
        """Whether there is a file for arguments of these types; it may be damaged."""
        return self._cache_file.path(self._index_key(types, target_context.codegen())).exists()

    def load_overload(self, sig, target_context):
        """Load the code for a signature, if there is any."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # A damaged file may raise anything.
            return None

    def save_overload(self, sig, data):
        """Keep the code for a signature, if that is possible."""
        with suppress(OSError):
            super().save_overload(sig, data)
        self._cache_file.end_turns()


@cache
def stamp(module: str) -> str | None:
    """Digest the source of a module and of all it imports, over any number of steps.

    Args:
        module: Its full name. Modules of other packages than its own and this one are passed over.

    Returns:
        Some hexadecimal digits, or None if the source cannot be read.
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
def place_for(folder: str) -> Path | None:
    """Find the place for the code of the sources in a folder; None where nothing can be kept."""
    for place, is_private in _places(Path(folder)):
        try:
            place.mkdir(mode=0o700 if is_private else 0o777, exist_ok=True)
            if is_private and not is_own(place):
                continue
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        return place
    return None


def is_own(place: Path) -> bool:
    """Whether a folder is this user's alone, and nobody else can put another in its place.

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


def _places(folder: Path) -> Iterator[tuple[Path, bool]]:
    """List the places, the first choice first, and whether they are to be the user's alone."""
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
    """Read the source of a module, from a folder or a zip file; None if there is no such module."""
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
    """List what a source imports: modules, and names that may be modules."""
    for module, names in _IMPORT.findall(source):
        yield module
        for name in re.findall(r"\w+", names):
            yield f"{module}.{name}"
