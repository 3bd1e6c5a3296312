"""Reads lines from files in Python: as many as are readable, and one row that states the fault of a file.

The functions are pure functions on Arrow batches; workers import this module from the shipped package.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dbt_tangles.ingest import decompress
from dbt_tangles.ingest.decompress import read_chunks
from dbt_tangles.ingest.file_faults import FaultError
from dbt_tangles.ingest.line_checks import BYTE_ORDER_MARK
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.reasons import FileFault

# The pattern avoids backtracking over long runs of carriage returns; text-mode copies turn one into at most two.
_LINE_END = re.compile(rb"\r{0,2}\n|\r")
_HELD_BACK = 2
# The most lines of a batch: a chunk may have a million lines, and each takes the memory of its columns.
_BATCH_LINES = 2**14


def unpack(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files.

    Args:
        batches: One row per file: `source_file`, its name in the result; `path`, with the suffix that tells its
            compression; `content`, a column that is missing if `path` is `file:` and a local path.
        reading: The line format and limits.

    Yields:
        Record batches of `LINE_SCHEMA`: for each file its lines, numbered from 1, as Spark's text reader splits them;
            then a row with the fault, if the file has one. `raw_length` is the length of a line before it was cut.

    Raises:
        RuntimeError: A file is missing, or permission is missing.
    """
    for batch in batches:
        contents = batch.column("content") if "content" in batch.schema.names else None
        names, paths = batch.column("source_file").to_pylist(), batch.column("path").to_pylist()
        for place, (name, path) in enumerate(zip(names, paths, strict=True)):
            try:
                if contents is None:
                    file = open(path.removeprefix("file:"), "rb", buffering=0)  # noqa: SIM115
                else:
                    file = pa.BufferReader(contents[place].as_buffer())
                with file:
                    yield from lines_of(name, read_chunks(path, file, reading), reading)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def read_blocks(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files on this machine, large files in blocks.

    Args:
        batches: One row per block: `source_file`, its file's name in the result; `path`; `start` and `end`, a range of
            bytes: the lines that begin in it are read; `first_line`, the number of the first of them; `fault`, if
            the file is skipped.
        reading: The line format and limits. A file has several blocks only if its lines end in a line feed.

    Yields:
        Batches as `unpack` does.

    Raises:
        RuntimeError: A file is missing, or permission is missing.
    """
    columns = ("source_file", "path", "start", "end", "first_line", "fault")
    for batch in batches:
        blocks = zip(*(batch.column(key).to_pylist() for key in columns), strict=True)
        for name, path, start, end, first_line, fault in blocks:
            if fault:
                yield _batch(name, [1], [None], [None], [fault], [FileFault(fault).description])
                continue
            try:
                with open(path, "rb", buffering=0) as file:
                    if end is None:
                        yield from lines_of(name, read_chunks(path, file, reading), reading)
                    elif (first := _first_line(file, start, end)) is not None:
                        chunks = _to_line_end(file, first, end)
                        yield from lines_of(name, chunks, reading, first_line, is_whole=first == 0)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def count_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the lines that begin in blocks of files on this machine.

    Args:
        batches: One row per block with an `end`, with the columns of `read_blocks`.

    Yields:
        For each batch, `number` int32, passed on, and `lines` int64.

    Raises:
        RuntimeError: A file is missing, or permission is missing.
    """
    for batch in batches:
        blocks = zip(*(batch.column(key).to_pylist() for key in ("path", "start", "end")), strict=True)
        counts = [_line_starts(path, start, end) for path, start, end in blocks]
        yield pa.record_batch({"number": batch.column("number"), "lines": pa.array(counts, pa.int64())})


def _line_starts(path: str, start: int, end: int) -> int:
    """Count the lines that begin in a range of bytes: at the first byte of the file, and after each line feed."""
    try:
        with open(path, "rb", buffering=0) as file:
            at, last, count = max(start - 1, 0), end - 1, int(start == 0)
            file.seek(at)
            while at < last and (chunk := file.read(min(decompress.CHUNK_BYTES, last - at))):
                count += chunk.count(b"\n")
                at += len(chunk)
            return count
    except OSError as error:
        raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def _first_line(file: Any, start: int, end: int) -> int | None:
    """Find the first byte of a block at which a line begins; None if the whole block is inside a line.

    Bytes after the block are not read: in a file without line ends, each block would read the whole rest.
    """
    if not start:
        return 0
    at, last = start - 1, end - 1  # a line begins after the previous line's line feed
    file.seek(at)
    while at < last and (chunk := file.read(min(decompress.CHUNK_BYTES, last - at))):
        if (found := chunk.find(b"\n")) >= 0:
            return at + found + 1
        at += len(chunk)
    return None


def _to_line_end(file: Any, start: int, end: int) -> Iterator[bytes]:
    """Yield the text from a line's first byte to the end of the last line that begins before `end`."""
    file.seek(start)
    while chunk := file.read(decompress.CHUNK_BYTES):
        if (found := chunk.find(b"\n", max(end - 1 - start, 0))) >= 0:
            yield chunk[: found + 1]
            return
        yield chunk
        start += len(chunk)


def lines_of(
    name: str, chunks: Iterator[bytes], reading: Reading, first_line: int = 1, is_whole: bool = True
) -> Iterator[pa.RecordBatch]:
    """Split the text of one file, or of a block of it, into rows of `LINE_SCHEMA`."""
    if not reading.is_by_line:
        chunks = _with_line_feeds(chunks)
    number, fault = first_line, None
    turns = _split(chunks, reading.separator.encode(), reading.max_bytes, is_whole)
    while True:
        try:
            lines, lengths = next(turns)
        except StopIteration as end:
            fault = end.value
            break
        if not reading.is_by_line:
            kept = [place for place, line in enumerate(lines) if line.strip()]
            lines, lengths = [lines[place] for place in kept], [lengths[place] for place in kept]
        for start in range(0, len(lines), _BATCH_LINES):
            part, rows = slice(start, start + _BATCH_LINES), min(len(lines) - start, _BATCH_LINES)
            numbers = np.arange(number, number + rows)
            yield _batch(name, numbers, lines[part], lengths[part], pa.nulls(rows), pa.nulls(rows))
            number += rows
    if fault:
        yield _batch(name, [number], [None], [None], [fault.fault], [str(fault)])


def _batch(name: str, numbers: Any, lines: Any, lengths: Any, faults: Any, details: Any) -> pa.RecordBatch:
    columns = [pa.repeat(name, len(numbers)), numbers, lines, lengths, faults, details]
    arrays = [
        column.cast(field.type) if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, LINE_SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=LINE_SCHEMA)


def _split(
    chunks: Iterator[bytes], separator: bytes, max_bytes: int, is_first: bool
) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield lines and their lengths; return the `FaultError` that ended the text, if one did."""
    fault = None
    rest = b""  # after the last separator
    head, head_length = b"", 0  # of a line that is too long: its first bytes, and its length before `rest`
    gathered: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = next(chunks, None)
        except FaultError as error:
            fault, chunk = error, None
        if chunk is not None:
            gathered.append(chunk)
            size += len(chunk)
            if size < decompress.CHUNK_BYTES:
                continue
        text = b"".join([rest, *gathered])
        gathered, size = [], 0
        if is_first:
            text, is_first = text.removeprefix(BYTE_ORDER_MARK), False
        lines = text.split(separator)
        rest = lines.pop()
        if chunk is None and (rest or (head_length and not lines)):
            lines.append(rest)
        if lines:
            lengths = list(map(len, lines))
            if head_length:
                lines[0], lengths[0] = head + lines[0][: max_bytes - len(head)], lengths[0] + head_length
                head, head_length = b"", 0
            if max(lengths) > max_bytes:
                lines = [line[:max_bytes] for line in lines]
            yield lines, lengths
        if chunk is None:
            return fault
        if len(rest) > max_bytes:
            cut = len(rest) - len(separator) + 1  # the end may be part of a separator
            head, head_length = head + rest[: min(cut, max_bytes - len(head))], head_length + cut
            rest = rest[cut:]


def _with_line_feeds(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Replace each carriage return, and each pair of carriage return and line feed, by a line feed.

    Valid JSON has raw carriage returns only between tokens, so values do not change.
    """
    held = b""
    for chunk in chunks:
        text = held + chunk
        tail = text[-_HELD_BACK:]
        place = len(text) - len(tail) + len(tail.rstrip(b"\r"))
        held = text[place:]
        yield _LINE_END.sub(b"\n", text[:place])
    yield _LINE_END.sub(b"\n", held)
