"""Locks that end with their process, however it ends."""

import contextlib
import fcntl
import os
from pathlib import Path


class FileLock:
    """An exclusive lock on a file (flock): the kernel gives it back when the process dies.

    The file holds a line about the holder, for others to show.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, holder: str = "", wait: bool = False) -> bool:
        """Take the lock; False where another process holds it.

        Args:
            holder: Who takes it, for `read_holder`.
            wait: Wait until it is free.

        Raises:
            OSError: The file cannot be opened or written.
        """
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(descriptor, 0)
            os.write(descriptor, holder.encode())
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def read_holder(self) -> str:
        """What the holder wrote; empty where nothing can be read."""
        try:
            return self.path.read_text(errors="replace").strip()
        except OSError:
            return ""

    def release(self) -> None:
        """Give the lock back; nothing where it is not held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.truncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
