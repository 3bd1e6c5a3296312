"""Errors of a warehouse, with the cause and the remedy."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

_NO_FOLDER = "a warehouse must be a folder: move the file away, or use another warehouse"
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space and run again; all published tables are intact"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "check its owner, or use another warehouse"),
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), _NO_FOLDER),
    errno.EROFS: "it is on a read-only file system; use another warehouse",
    errno.EXDEV: "keep the warehouse in one file system",
}


class WarehouseError(RuntimeError):
    """The warehouse cannot be used; the message names it, the cause and the remedy."""


def explain_os_error(root: Path, doing: str, error: OSError) -> WarehouseError:
    """Return an error that tells what failed in the warehouse at `root`, and the remedy."""
    remedy = _REMEDIES.get(error.errno, "check the disk, or use another warehouse")
    return WarehouseError(f"cannot {doing} at {root}: {os.strerror(error.errno or 0)} ({remedy})")


@contextlib.contextmanager
def translate_os_errors(root: Path, doing: str) -> Iterator[None]:
    """Raise a `WarehouseError` in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise explain_os_error(root, doing, error) from error
