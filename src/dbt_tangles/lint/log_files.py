"""Finds the files of logs as builds do, and streams their lines with digests and faults."""

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from dbt_spark_python import input_files
from dbt_tangles.cli.log_arguments import STANDARD_INPUT
from dbt_tangles.cli.tables import CommandError
from dbt_tangles.ingest import decompress
from dbt_tangles.ingest.line_checks import DIGEST
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.ingest.unpack import lines_of
from dbt_tangles.reasons import FileFault


class LogFile(NamedTuple):
    """A file of a log; the fault of a dangling link, a pipe or a device is found when it is read."""

    name: str  # Its name in findings: relative if the user gave a relative path
    path: str  # Its absolute path


def find_files(log: str) -> list[LogFile]:
    """List the files at a path: a file, a folder with all visible files below it, or the matches of a glob."""
    try:
        found = input_files.find_files(log, "LOG")
    except ValueError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: cannot be read: {error.strerror}") from error
    paths = sorted([*(path for path, _ in found.files), *found.dangling, *found.irregular])
    return [LogFile(_name_of(path, log), path) for path in paths]


def _name_of(path: str, log: str) -> str:
    if os.path.basename(path) == STANDARD_INPUT:
        return STANDARD_INPUT
    return path if log.startswith(("/", "file:/")) else os.path.relpath(path)


def texts_of(file: LogFile, reading: Reading) -> Iterator[bytes]:
    """Stream the lines of a file that are not blank; of a long one, its beginning."""
    return (line for batch in read_lines(file, reading) for line in batch["raw"].to_pylist() if line and line.strip())


def with_digests(batches: Iterator[pa.RecordBatch], max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Append the column `line_digest` to batches of lines; it is null for a fault and for a line that was cut."""
    for batch in batches:
        digests = [
            None if raw is None or length > max_bytes else hashlib.sha256(raw).digest()
            for raw, length in zip(batch["raw"].to_pylist(), batch["raw_length"].to_pylist(), strict=True)
        ]
        yield batch.append_column(DIGEST, pa.array(digests, DIGEST.type))


def read_lines(file: LogFile, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Stream the lines of a file, of `LINE_SCHEMA`; the last row states the file's fault, if it has one."""
    fault = _unread(file.path)
    if fault is not None:
        row = {"source_file": file.name, "line": 1, "fault": fault.value}
        yield pa.RecordBatch.from_pylist([row | {"fault_detail": fault.description}], LINE_SCHEMA)
        return
    try:
        with open(file.path, "rb", buffering=0) as opened:
            yield from lines_of(file.name, decompress.read_chunks(file.path, opened, reading), reading)
    except OSError as error:
        raise CommandError(f"{file.name}: cannot be read: {error.strerror or error}") from error


def _unread(path: str) -> FileFault | None:
    """Return why a build does not read a file at all, if it does not."""
    if os.path.exists(path):
        if not os.path.isfile(path):
            return FileFault.NOT_A_FILE
        return FileFault.UNSUPPORTED_COMPRESSION if decompress.UNREAD_SUFFIX.search(path) else None
    return FileFault.DANGLING_LINK if os.path.islink(path) else None
