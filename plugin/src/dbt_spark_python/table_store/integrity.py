"""Finds damaged files of a table: quickly by sizes and footers, or thoroughly by digests of all bytes.

This module imports neither Spark nor dbt, and not the warehouse.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store.durable_files import kind_of

#: The facts of a pipe, socket, device or dangling link; a manifest never contains them.
_NO_FILE = [-1, 0]


def data_files(folder: Path) -> list[Path]:
    """Return the data files in a table's folder at any depth, special files included, as readers list them."""
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts) and not path.is_dir()
    )


def list_files(folder: Path) -> dict[str, list[int]]:
    """Return the size and modification time of each data file, which reveal changes from outside."""
    return {path.relative_to(folder).as_posix(): _facts(path) for path in data_files(folder)}


def _facts(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:  # a dangling link
        return _NO_FILE
    return [found.st_size, found.st_mtime_ns] if stat.S_ISREG(found.st_mode) else _NO_FILE


def digest_files(
    folder: Path, files: Mapping[str, list[int]], known: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Digest the bytes of a table's data files, as `list_files` returns them; a special file has an empty digest.

    A file with unchanged facts keeps its digest from the manifest `known`.
    """
    noted, digests = ((known or {}).get(key) or {} for key in ("files", "digests"))
    found = {}
    for name, facts in files.items():
        if name in digests and noted.get(name) == facts:
            found[name] = digests[name]
        else:
            found[name] = "" if facts == _NO_FILE else digest_file(folder / name)
    return found


def digest_content(digests: Mapping[str, str]) -> str:
    """Digest the data of a table from the digests of its files and their folders; file names do not count."""
    placed = [[name.rpartition("/")[0] or ".", digest] for name, digest in digests.items()]
    return hashlib.sha256(json.dumps(sorted(placed)).encode()).hexdigest()


def digest_file(file: Path) -> str:
    """Digest the bytes of a file."""
    digest = hashlib.blake2b(digest_size=32)
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def find_faults(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Find the files that make a table unreadable, without reading its rows; return the faults by file name.

    A file with the size and time in the manifest, which may be empty, is taken as intact. Of any other file the footer
    is read, which holds the positions of the parquet columns.
    """
    noted, found = manifest.get("files") or {}, list_files(folder)
    faults = {} if (folder / "_delta_log").is_dir() else {name: "is missing" for name in noted.keys() - found.keys()}
    for name, facts in found.items():
        if noted.get(name) != facts and (fault := _fault_of(folder / name, facts)):
            faults[name] = fault
    return _still_damaged(folder, manifest, found) | faults


def _still_damaged(folder: Path, manifest: Mapping[str, Any], found: Mapping[str, list[int]]) -> dict[str, str]:
    """Return faults that an earlier digest check recorded, for files that have not been restored since."""
    noted = manifest.get("damaged") or {}
    now = digest_files(folder, {name: facts for name, facts in found.items() if name in noted})
    digests = manifest.get("digests") or {}
    return {name: fault for name, fault in noted.items() if name not in now or now[name] != digests.get(name)}


def _fault_of(path: Path, facts: list[int]) -> str | None:
    if facts == _NO_FILE:
        return f"is {kind_of(os.lstat(path).st_mode)}, not a file"
    if path.suffix != ".parquet":  # other formats keep further files beside their data
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException) as error:
        if getattr(error, "errno", None):
            return f"cannot be read: {error.strerror}"
        return f"is not a parquet file ({facts[0]:,} bytes): {str(error).splitlines()[0]}"
    return None


def find_altered(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str] | None:
    """Find the files of a table that have changed since they were published, by reading all bytes.

    The result has the faults by file name; it is None if there are no faults, and no digests to compare.
    """
    faults, noted = find_faults(folder, manifest), manifest.get("digests")
    if faults or not noted:
        return faults or None
    return {
        name: "has changed since it was published" if name in noted else "was not published with the table"
        for name, digest in digest_files(folder, list_files(folder)).items()
        if noted.get(name) != digest
    }
