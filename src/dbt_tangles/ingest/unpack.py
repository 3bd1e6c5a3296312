"""Reads lines from files in Python: as many as are readable, and one row that states the fault of a file.

The functions are pure functions on Arrow batches; workers import this module from the shipped package.
"""

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dbt_tangles.ingest import decompress
from dbt_tangles.ingest.decompress import FaultError, read_chunks
from dbt_tangles.ingest.line_checks import BYTE_ORDER_MARK
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.reasons import FileFault

# The pattern avoids backtracking over long runs of carriage returns; text-mode copies turn one into at most two.
_LINE_END = re.compile(rb"\r{0,2}\n|\r")
_HELD_BACK = 2
# The most lines of a batch: a chunk may have a million lines, and each takes the memory of its columns.
_BATCH_LINES = 2**14


def read_files(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files, and of parts of files.

    Args:
        batches: One row per file or part: `source_file`, its file's name in the result; `path`, whose suffix tells the
            compression. Optional columns: `content`, of a file that is not on this machine; `start` and `end`, the
            bytes of a part, which begins with a line; `first_line`, that line's number; `fault`, a code of `FileFault`
            if the file is skipped.
        reading: The line format and limits. A file has parts only if its lines end in a line feed.

    Yields:
        Record batches of `LINE_SCHEMA`: for each file its lines, numbered from 1, as Spark's text reader splits them;
            then a row with the fault, if the file has one. `raw_length` is the length of a line before it was cut.

    Raises:
        RuntimeError: A file is missing, or permission is missing.
    """
    for batch in batches:
        for place in range(len(batch)):
            [row] = batch.slice(place, 1).to_pylist()
            try:
                yield from _read_file(row, reading)
            except OSError as error:
                raise RuntimeError(f"while reading file {row['path']}: {error.strerror or error}") from error


def _read_file(row: dict[str, Any], reading: Reading) -> Iterator[pa.RecordBatch]:
    name, path, end = row["source_file"], row["path"], row.get("end")
    if row.get("fault"):
        yield _batch(name, [1], [None], [None], row["fault"], FileFault(row["fault"]).description)
        return
    content = row.get("content")
    with io.BytesIO(content) if content is not None else open(path.removeprefix("file:"), "rb", buffering=0) as file:
        if end is None:
            yield from lines_of(name, read_chunks(path, file, reading), reading)
        else:
            chunks = _to_line_end(file, row["start"], end)
            yield from lines_of(name, chunks, reading, row["first_line"], is_whole=row["start"] == 0)


def _to_line_end(file: Any, start: int, end: int) -> Iterator[bytes]:
    """Yield the text of a part: the bytes up to `end`, and the rest of the last line if the file has grown since."""
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
    number = first_line
    try:
        for lines, lengths in _split(chunks, reading.separator.encode(), reading.max_bytes, is_whole):
            if not reading.is_by_line:
                kept = [place for place, line in enumerate(lines) if line.strip()]
                lines, lengths = [lines[place] for place in kept], [lengths[place] for place in kept]
            for start in range(0, len(lines), _BATCH_LINES):
                part = slice(start, start + _BATCH_LINES)
                numbers = np.arange(number, number + len(lines[part]))
                yield _batch(name, numbers, lines[part], lengths[part])
                number += len(numbers)
    except FaultError as fault:
        yield _batch(name, [number], [None], [None], fault.fault, str(fault))


def _batch(
    name: str, numbers: Any, lines: Any, lengths: Any, fault: str | None = None, detail: str | None = None
) -> pa.RecordBatch:
    name, fault, detail = (pa.repeat(pa.scalar(text, pa.string()), len(numbers)) for text in (name, fault, detail))
    return pa.RecordBatch.from_arrays([name, numbers, lines, lengths, fault, detail], schema=LINE_SCHEMA)


def _split(
    chunks: Iterator[bytes], separator: bytes, max_bytes: int, is_first: bool
) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield lines and their lengths; then raise the `FaultError` that ended the text, if one did."""
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
        if fault:
            raise fault
        if chunk is None:
            return
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
