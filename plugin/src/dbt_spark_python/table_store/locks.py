"""File locks that the kernel releases when their process ends."""

import contextlib
import fcntl
import os
from pathlib import Path


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

    def acquire(self, holder: str = "", wait: bool = False) -> bool:
        """Take the lock; return False if another process holds it.

        Args:
            holder: A description of this process, for `read_holder`.
            wait: Wait until the lock is free.

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
        """Return the holder's description; empty if it cannot be read."""
        try:
            return self.path.read_text(errors="replace").strip()
        except OSError:
            return ""

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.truncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
