"""Finds damaged files of a table: quickly by their sizes and ends, or for certain by all their bytes.

This module does not depend on Spark, dbt or the warehouse.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_spark_python.table_store.durable_files import kind_of

#: The facts of a pipe, socket, device or dangling link; manifests never note these facts.
_NO_FILE = [-1, 0]


def data_files(folder: Path) -> list[Path]:
    """The entries of a table's folder that readers take for its data, at any depth: files and special files."""
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts) and not path.is_dir()
    )


def list_files(folder: Path) -> dict[str, list[int]]:
    """The size and time of change of each data file, by which a change from outside is noticed."""
    return {path.relative_to(folder).as_posix(): _facts(path) for path in data_files(folder)}


def _facts(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:  # a link that leads nowhere
        return _NO_FILE
    return [found.st_size, found.st_mtime_ns] if stat.S_ISREG(found.st_mode) else _NO_FILE


def digest_files(
    folder: Path, files: Mapping[str, list[int]], known: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Digest the bytes of a table's data files.

    Args:
        folder: The table's.
        files: Its files, as `list_files` has them.
        known: A manifest; a file of which it has the same facts has the digest that it notes.

    Returns:
        The digests in hexadecimal digits, by the names of the files. A special file has an empty digest.
    """
    noted, digests = ((known or {}).get(key) or {} for key in ("files", "digests"))
    return {
        name: digests[name]
        if name in digests and noted.get(name) == facts
        else ("" if facts == _NO_FILE else digest_file(folder / name))
        for name, facts in files.items()
    }


def digest_content(digests: Mapping[str, str]) -> str:
    """Digest the data of a table, of the digests of its files: their bytes, whatever their names, and their folders."""
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
    """Find the files that keep a table from being read, without reading it.

    A file that has the size and time of change of which the manifest tells is as it was published; of another the end
    is read, where parquet has the places of its columns.

    Args:
        folder: The table's.
        manifest: Its manifest; may be empty.

    Returns:
        The faults by the names of the files; empty where the table can be read.
    """
    noted, found = manifest.get("files") or {}, list_files(folder)
    faults = {} if (folder / "_delta_log").is_dir() else {name: "is missing" for name in noted.keys() - found.keys()}
    for name, facts in found.items():
        if noted.get(name) != facts and (fault := _fault_of(folder / name, facts)):
            faults[name] = fault
    return _still_damaged(folder, manifest, found) | faults


def _still_damaged(folder: Path, manifest: Mapping[str, Any], found: Mapping[str, list[int]]) -> dict[str, str]:
    """The faults that an earlier check of all bytes noted, of files that have not been restored since."""
    noted = manifest.get("damaged") or {}
    now = digest_files(folder, {name: facts for name, facts in found.items() if name in noted})
    digests = manifest.get("digests") or {}
    return {name: fault for name, fault in noted.items() if name not in now or now[name] != digests.get(name)}


def _fault_of(path: Path, facts: list[int]) -> str | None:
    if facts == _NO_FILE:
        return f"is {kind_of(os.lstat(path).st_mode)} and no file"
    if path.suffix != ".parquet":  # such as a format with a log of its own keeps beside its data
        return None
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException) as error:
        if getattr(error, "errno", None):
            return f"cannot be read: {error.strerror}"
        return f"is no parquet file ({facts[0]:,} bytes): {str(error).splitlines()[0]}"
    return None


def find_altered(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str] | None:
    """Find the files of a table whose bytes are not those that were published, by reading all of them.

    Args:
        folder: The table's.
        manifest: Its manifest.

    Returns:
        The faults by the names of the files (by `.`, where the manifest has one digest for the whole table); None where
        the manifest lacks digests.
    """
    if faults := find_faults(folder, manifest):
        return faults
    found = list_files(folder)
    if not manifest.get("digests"):
        if not manifest.get("content"):
            return None
        is_same = digest_content(digest_files(folder, found)) == manifest["content"]
        return {} if is_same else {".": "the bytes of its files are not those that were published"}
    noted = manifest["digests"]
    return {
        name: "its bytes are not those that were published" if name in noted else "was not published with the table"
        for name, digest in digest_files(folder, found).items()
        if noted.get(name) != digest
    }
