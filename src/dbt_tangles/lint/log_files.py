"""Finds the files of a log on this machine, and streams their lines with digests and faults."""

import glob
import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from dbt_tangles.ingest import decompress
from dbt_tangles.ingest.line_checks import DIGEST
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.ingest.unpack import lines_of
from dbt_tangles.lint.log_kinds import SAMPLE, recognise
from dbt_tangles.reasons import FileFault


class LogPathError(Exception):
    """Files are missing at a path, or a file cannot be read."""


def find_files(path: str) -> list[str]:
    """List the files at a path: a file, a folder with all visible files below it, or the matches of a glob.

    Raises:
        LogPathError: Files are missing at the path.
    """
    places = [path] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))
    files = [file for place in places for file in _files_below(place)]
    if not files and "://" in path:
        raise LogPathError(f"{path}: this command reads files of this machine only; copy the log, or use dbt")
    if not files:
        raise LogPathError(
            f"{path}: the file does not exist, or the folder is empty; name a log file, a folder of logs or a glob"
        )
    return files


def _files_below(place: str) -> list[str]:
    if not os.path.isdir(place):
        if os.path.exists(place) and not os.path.isfile(place):
            raise LogPathError(f"{place}: not a regular file; write the log into a file first")
        return [place]
    below = (path for path in Path(place).rglob("*") if not path.is_dir())
    is_visible = {path: not any(part[0] in "._" for part in path.relative_to(place).parts) for path in below}
    return sorted(str(path) for path in is_visible if is_visible[path])


def kind_of(file: str, reading: Reading) -> str | None:
    """Recognise the kind of a file's log; see `log_kinds.recognise`."""
    lines = (line for batch in _batches_of(file, reading) for line in batch["raw"].to_pylist() if line)
    return recognise(islice(lines, SAMPLE))


def read_lines(file: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Stream the lines of a file.

    Yields:
        Batches of `LINE_SCHEMA` with the additional column `line_digest`. The last row states the file's fault, if it
            has one.

    Raises:
        LogPathError: The file cannot be read.
    """
    for batch in _batches_of(file, reading):
        digests = [
            None if raw is None or length > reading.max_bytes else hashlib.sha256(raw).digest()
            for raw, length in zip(batch["raw"].to_pylist(), batch["raw_length"].to_pylist(), strict=True)
        ]
        yield batch.append_column(DIGEST, pa.array(digests, DIGEST.type))


def _batches_of(file: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    fault = _unread(file)
    if fault is not None:
        row = {"source_file": file, "line": 1, "fault": fault.value}
        yield pa.RecordBatch.from_pylist([row | {"fault_detail": fault.description}], LINE_SCHEMA)
        return
    try:
        with open(file, "rb", buffering=0) as opened:
            yield from lines_of(file, decompress.read_chunks(file, opened, reading), reading)
    except OSError as error:
        raise LogPathError(f"{file}: cannot be read: {error.strerror or error}") from error


def _unread(file: str) -> FileFault | None:
    """Return why a build does not read a file at all, if it does not."""
    if decompress.UNREAD_SUFFIX.search(file):
        return FileFault.UNSUPPORTED_COMPRESSION
    return FileFault.DANGLING_LINK if os.path.islink(file) and not os.path.exists(file) else None
