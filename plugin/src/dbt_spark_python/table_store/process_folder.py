"""The folder of one process in a warehouse, `.sessions/<id>/`: new tables before publication, and scratch files.

A lock beside the folder shows that its process is alive; the next builder removes folders whose lock is free.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import uuid
from datetime import datetime, timezone
from pathlib import Path

from dbt_spark_python.table_store.errors import explain_os_error


class FileLock:
    """An exclusive lock on a file (flock), released by the kernel if the process dies.

    The file contains a line that describes the holder, for messages of other processes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Take the lock; return False if another process holds it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} since {utc_now()}".encode())
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return False
            raise
        self._descriptor = descriptor
        return True

    def read_holder(self) -> str:
        """Return the holder's description, as far as it can be read."""
        with contextlib.suppress(OSError):
            return self.path.read_text(errors="replace").strip() or "another process"
        return "another process"

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.truncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


class ProcessFolder:
    """This process's folder, at `path`; a process without write access gets one elsewhere, for reading only.

    Raises:
        WarehouseError: The disk is full.
    """

    def __init__(self, root: Path) -> None:
        self._all = root / ".sessions"
        self._alive: FileLock | None = None
        try:
            self.path = self._create()
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise explain_os_error(root, "make a folder for this process", error) from error
            self._alive = None
            self.path = Path(tempfile.mkdtemp(prefix="dbt_spark_python_"))
        (self.path / "tables").mkdir()
        (self.path / "scratch").mkdir()

    @property
    def is_writable(self) -> bool:
        """Whether the folder is in the warehouse, so that this process may build."""
        return self._alive is not None

    def close(self) -> None:
        """Remove the folder and its lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._alive:
            self._alive.release()
            with contextlib.suppress(OSError):
                self._alive.path.unlink()
            self._alive = None

    def clear_dead(self) -> None:
        """Remove the folders of ended processes, recognised by their free locks."""
        for folder in [path for path in self._all.iterdir() if path.is_dir() and path != self.path]:
            alive = FileLock(folder.with_suffix(".lock"))
            if alive.acquire():
                # The JVM of a killed process may still be writing; the rest is removed next time.
                shutil.rmtree(folder, ignore_errors=True)
                if not folder.exists():
                    alive.path.unlink(missing_ok=True)
                alive.release()

    def _create(self) -> Path:
        """Create the folder behind its lock, so that no builder finds the folder with a free lock."""
        self._all.mkdir(mode=0o700, exist_ok=True)
        self._alive = FileLock(self._all / f"{uuid.uuid4().hex[:12]}.lock")
        self._alive.acquire()
        folder = self._alive.path.with_suffix("")
        folder.mkdir(mode=0o700)
        return folder


def utc_now() -> str:
    """Return the time (ISO 8601, UTC, in seconds)."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
