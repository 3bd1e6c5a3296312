"""Writes files durably (fsync), and reads small files of untrusted content.

A file is durable once its bytes and its name in its folder are on disk. Some file systems do not sync folders; there,
names are as durable as the file system makes them.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any

#: The largest size of a manifest or similar small file; larger files are not read.
MOST_BYTES = 16 << 20

# Network and FUSE file systems may refuse to sync folders.
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a dangling link",
}


def sync_file(path: Path) -> None:
    """Wait until the bytes of a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, if its file system supports that."""
    try:
        sync_file(path)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def sync_tree(root: Path, done: Collection[str] = ()) -> None:
    """Wait until all files below a folder are on disk; files of these paths from the folder are durable already."""
    for folder, _, names in os.walk(root, topdown=False):
        for path in (Path(folder, name) for name in names):
            if path.relative_to(root).as_posix() not in done and path.is_file():
                sync_file(path)
        sync_folder(Path(folder))


def write_text(path: Path, text: str, draft: Path, sync: bool = True) -> None:
    """Write a small file by a draft on the same file system: a reader gets the old or the new content, complete.

    The mode of an existing file is kept. Without `sync`, a power cut may leave an empty file.
    """
    draft.write_text(text)
    with contextlib.suppress(FileNotFoundError):
        draft.chmod(stat.S_IMODE(path.stat().st_mode))
    if sync:
        sync_file(draft)
    draft.replace(path)


def read_text(path: Path) -> str:
    """Read a small file.

    Raises:
        OSError: It does not exist, or permission is missing.
        ValueError: It is a pipe or another special file (which could block the reader), too large, or not UTF-8.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"it is {kind_of(found.st_mode)}, not a file")
        if found.st_size > MOST_BYTES:
            raise ValueError(f"it has {found.st_size:,} bytes, and at most {MOST_BYTES:,} are read")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MOST_BYTES).decode()
    finally:
        os.close(descriptor)


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text; a ValueError tells what the text contains instead."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("its JSON is not an object")
    return found


def kind_of(mode: int) -> str:
    """Name the kind of a folder's entry other than a regular file, by its mode."""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")
