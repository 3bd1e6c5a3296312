"""Reads lines from files in Python: as many as are readable, and one row that states the fault of a file.

For one damaged file Spark either fails the whole query or, if told to ignore such files, silently drops the text after
the damage and some of the text before it. This module reads a file up to the exact byte at which it becomes invalid.

The functions are pure functions on Arrow batches. They are pickled by value (see `lines.py`), so workers do not need
this package.
"""

from __future__ import annotations

import bz2
import io
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

#: The rows of `unpack`: a line, or, if `fault` is not null, the fault of a file.
LINE_SCHEMA = pa.schema(
    [
        pa.field("source_file", pa.string()),
        pa.field("block_start", pa.int64()),
        pa.field("row_id", pa.int64()),
        pa.field("raw", pa.binary()),
        pa.field("raw_length", pa.int64()),
        pa.field("fault", pa.string()),
        pa.field("fault_detail", pa.string()),
    ]
)

# The bytes read from a file at a time. 8 KB of DEFLATE data unpack to at most 8.5 MB.
PIECE_BYTES = 2**13
# The bytes of unpacked text that are split into lines at a time.
CHUNK_BYTES = 2**20

#: The largest ratio of a file's unpacked size to its size. JSON logs compress by 3 to 30, zeros by 1,000 (gzip) to
#: 1,000,000 (bzip2).
UNPACK_RATIO = 200
#: Any file may unpack to this many bytes.
FREE_BYTES = 2**24
#: The cost of a line in addition to its bytes, within those limits: every line becomes a row, even an empty one.
LINE_COST = 64

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The pattern avoids backtracking over long runs of carriage returns; text-mode copies turn one into at most two.
_LINE_END = re.compile(rb"\r{0,2}\n|\r")
_HELD_BACK = 2


@dataclass(frozen=True)
class Reading:
    r"""The line format of files, and the limits for reading them.

    Attributes:
        max_bytes: Longer lines are cut; only the kept part takes memory.
        separator: The text between two lines. If it is not a line feed, blank lines are skipped, and carriage returns
            are read as line ends (`\r\n` as one).
        unpack_ratio: The largest ratio of unpacked to compressed size; `FREE_BYTES` are always allowed, and each line
            costs `LINE_COST` additional bytes.
    """

    max_bytes: int
    separator: str = "\n"
    unpack_ratio: int = UNPACK_RATIO

    @property
    def is_by_line(self) -> bool:
        """Whether each line ends in a line feed."""
        return self.separator == "\n"


class Fault:
    """Codes of the faults of files, as in the tables."""

    TRUNCATED = "truncated_file"
    TRAILING_GARBAGE = "trailing_garbage"
    CORRUPT = "corrupt_file"
    NOT_COMPRESSED = "not_compressed"
    UNSUPPORTED = "unsupported_compression"
    DANGLING_LINK = "dangling_link"
    OVER_LIMIT = "over_unpack_limit"


#: Explanations of the faults.
FAULTS = {
    Fault.TRUNCATED: "The compressed file ends early. What is there is read.",
    Fault.TRAILING_GARBAGE: "Something else follows the compressed data. The data are read, the rest is not.",
    Fault.CORRUPT: "The compressed data, or their checksum, are wrong from some place on. What is before is read.",
    Fault.NOT_COMPRESSED: "The file is not compressed as its name says. Nothing of it is read.",
    Fault.UNSUPPORTED: "The file is compressed, by its name, in a way that is not read.",
    Fault.DANGLING_LINK: "The link leads nowhere.",
    Fault.OVER_LIMIT: "The compressed file unpacks to more than `unpack_limit` times its size. It is read up to there.",
}


class _FaultError(Exception):
    """The reading of a file stopped at a fault."""

    def __init__(self, fault: str, detail: str | None = None) -> None:
        super().__init__(detail or FAULTS[fault])
        self.fault = fault


def unpack(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files.

    Args:
        batches: One row per file: `source_file`, its name in the result; `path`, with the suffix that tells its
            compression; `content`, a column that is missing if `path` is `file:` and a local path.
        reading: The line format and limits.

    Yields:
        Record batches of `LINE_SCHEMA`: for each file its lines, numbered from 0, as Spark's text reader splits them;
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
                    yield from lines_of(name, _chunks(path, file, reading), reading)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def read_blocks(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files on this machine, large files in blocks.

    Args:
        batches: One row per block: `source_file`, its file's name in the result; `path`; `start` and `end`, a range of
            bytes: the lines that begin in it are read; `fault`, if the file is skipped.
        reading: The line format and limits. A file has several blocks only if its lines end in a line feed.

    Yields:
        Batches as `unpack` does. Lines of a block are numbered from the block's first byte.

    Raises:
        RuntimeError: A file is missing, or permission is missing.
    """
    columns = ("source_file", "path", "start", "end", "fault")
    for batch in batches:
        for name, path, start, end, fault in zip(*(batch.column(key).to_pylist() for key in columns), strict=True):
            if fault:
                yield _batch(name, [0], [None], [None], [fault], [FAULTS[fault]])
                continue
            try:
                with open(path, "rb", buffering=0) as file:
                    if end is None:
                        yield from lines_of(name, _chunks(path, file, reading), reading)
                    elif (first := _first_line(file, start, end)) is not None:
                        chunks = _to_line_end(file, first, end)
                        yield from lines_of(name, chunks, reading, start, is_whole=first == 0)
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
    while at < last and (chunk := file.read(min(CHUNK_BYTES, last - at))):
        if (found := chunk.find(b"\n")) >= 0:
            return at + found + 1
        at += len(chunk)
    return None


def _to_line_end(file: Any, start: int, end: int) -> Iterator[bytes]:
    """Yield the text from a line's first byte to the end of the last line that begins before `end`."""
    file.seek(start)
    while chunk := file.read(CHUNK_BYTES):
        if (found := chunk.find(b"\n", max(end - 1 - start, 0))) >= 0:
            yield chunk[: found + 1]
            return
        yield chunk
        start += len(chunk)


def lines_of(
    name: str, chunks: Iterator[bytes], reading: Reading, block_start: int = 0, is_whole: bool = True
) -> Iterator[pa.RecordBatch]:
    """Split the text of one file, or of a block of it, into rows of `LINE_SCHEMA`."""
    if not reading.is_by_line:
        chunks = _with_line_feeds(chunks)
    # A block has at most as many lines as bytes, so line numbers are unique within a file.
    count, fault = block_start, None
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
        if lines:
            rows = len(lines)
            yield _batch(
                name, np.arange(count, count + rows), lines, lengths, pa.nulls(rows), pa.nulls(rows), block_start
            )
            count += rows
    if fault:
        yield _batch(name, [count], [None], [None], [fault.fault], [str(fault)])


def _batch(
    name: str, row_ids: Any, lines: Any, lengths: Any, faults: Any, details: Any, block_start: int = 0
) -> pa.RecordBatch:
    rows = len(row_ids)
    columns = [pa.repeat(name, rows), np.full(rows, block_start), row_ids, lines, lengths, faults, details]
    arrays = [
        column.cast(field.type) if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, LINE_SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=LINE_SCHEMA)


def _split(
    chunks: Iterator[bytes], separator: bytes, max_bytes: int, is_first: bool
) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield lines and their lengths; return the `_FaultError` that ended the text, if one did."""
    fault = None
    rest = b""  # after the last separator
    head, head_length = b"", 0  # of a line that is too long: its first bytes, and its length before `rest`
    gathered: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = next(chunks, None)
        except _FaultError as error:
            fault, chunk = error, None
        if chunk is not None:
            gathered.append(chunk)
            size += len(chunk)
            if size < CHUNK_BYTES:
                continue
        text = b"".join([rest, *gathered])
        gathered, size = [], 0
        if is_first:
            text, is_first = text.removeprefix(_BYTE_ORDER_MARK), False
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


def _chunks(path: str, file: Any, reading: Reading) -> Iterator[bytes]:
    """Yield the text of a file, unpacked according to its suffix.

    Raises:
        _FaultError: The file is damaged or exceeds a limit.
    """
    unpacker = _UNPACKERS.get(path.rpartition(".")[2].lower())
    if unpacker is None:
        return _plain(file)
    stored = file.seek(0, io.SEEK_END)
    file.seek(0)
    return _bounded(unpacker(file), reading, stored)


def _bounded(chunks: Iterator[bytes], reading: Reading, stored: int) -> Iterator[bytes]:
    """Yield an unpacked text up to the limits.

    Raises:
        _FaultError: The text is longer.
    """
    separator, most = reading.separator.encode(), max(FREE_BYTES, reading.unpack_ratio * stored)
    left = most
    for chunk in chunks:
        cost = _cost(chunk, separator, len(chunk))
        if cost > left:
            kept = chunk[: bisect_right(range(len(chunk)), left, key=partial(_cost, chunk, separator)) - 1]
            end = kept.rfind(separator)
            yield kept[: end + len(separator)] if end >= 0 else kept
            raise _FaultError(
                Fault.OVER_LIMIT,
                f"{stored:,} bytes unpack to more than {most:,} (each line counts for {LINE_COST} more than it has):"
                f" the rest is not read. unpack_limit, {reading.unpack_ratio} now, says how many times its size a file"
                " may unpack to",
            )
        left -= cost
        yield chunk


def _cost(text: bytes, separator: bytes, size: int) -> int:
    """Return the cost of the first `size` bytes of a text."""
    return size + LINE_COST * text.count(separator, 0, size)


def _plain(file: Any) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


class _Inflater:
    """A zlib decoder with the interface of bz2's."""

    needs_input = True  # pieces are small, which bounds the text of each

    def __init__(self, window_bits: int) -> None:
        self._decoder = zlib.decompressobj(window_bits)

    def decompress(self, piece: bytes, _max_length: int) -> bytes:
        return self._decoder.decompress(piece)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data


def _streams(new_decoder: Callable[[], Any], magic: bytes, file: Any) -> Iterator[bytes]:
    """Unpack consecutive compressed streams, as gzip and bzip2 allow; zeros after a stream are padding."""
    start = 0
    while True:
        start = _skip_zeros(file, start) if start else 0
        file.seek(start)
        lead = file.read(len(magic))
        if not lead:
            return
        if lead != magic:
            if magic.startswith(lead):
                raise _FaultError(Fault.TRUNCATED)
            if start:
                raise _FaultError(Fault.TRAILING_GARBAGE, f"the compressed data end at byte {start}, the file does not")
            raise _FaultError(Fault.NOT_COMPRESSED)
        start = yield from _stream(new_decoder, file, start)


def _skip_zeros(file: Any, start: int) -> int:
    file.seek(start)
    while piece := file.read(PIECE_BYTES):
        rest = piece.lstrip(b"\0")
        start += len(piece) - len(rest)
        if rest:
            break
    return start


def _stream(new_decoder: Callable[[], Any], file: Any, start: int) -> Iterator[bytes]:
    """Unpack the stream that starts at byte `start`, and return the byte after it."""
    decoder, at, given = new_decoder(), start, 0
    file.seek(start)
    while not decoder.eof:
        piece = file.read(PIECE_BYTES)
        if not piece:
            raise _FaultError(Fault.TRUNCATED, f"the compressed data go on behind byte {at}, the file does not")
        try:
            for text in _unpacked(decoder, piece):
                given += len(text)
                yield text
        except (zlib.error, OSError) as error:
            yield from _last_bytes(new_decoder, file, start, at, given)
            raise _FaultError(Fault.CORRUPT, f"from byte {at} on: {error}") from error
        at += len(piece)
    return at - len(decoder.unused_data)


def _unpacked(decoder: Any, piece: bytes) -> Iterator[bytes]:
    yield decoder.decompress(piece, CHUNK_BYTES)
    while not (decoder.needs_input or decoder.eof):
        yield decoder.decompress(b"", CHUNK_BYTES)


def _last_bytes(new_decoder: Callable[[], Any], file: Any, start: int, at: int, given: int) -> Iterator[bytes]:
    """Unpack again, byte by byte from `at` on, because a failing decoder discards the text of the same piece."""
    decoder = new_decoder()
    file.seek(start)
    while piece := file.read(min(PIECE_BYTES, max(at - start, 1))):
        start += len(piece)
        try:
            for text in _unpacked(decoder, piece):
                yield text[given:]
                given = max(given - len(text), 0)
        except (zlib.error, OSError):
            return


def _zstd(file: Any) -> Iterator[bytes]:
    """Unpack Zstandard; up to 8 KB before damage may be lost."""
    is_begun = False
    try:
        with pa.CompressedInputStream(file, "zstd") as stream:
            while text := stream.read(PIECE_BYTES):
                is_begun = True
                yield text
    except OSError as error:
        if "Truncated" in str(error):
            raise _FaultError(Fault.TRUNCATED) from error
        raise _FaultError(Fault.CORRUPT, str(error)) if is_begun else _FaultError(Fault.NOT_COMPRESSED) from error


_UNPACKERS: dict[str, Callable[[Any], Iterator[bytes]]] = {
    "gz": partial(_streams, partial(_Inflater, zlib.MAX_WBITS | 16), b"\x1f\x8b\x08"),
    "deflate": partial(_streams, partial(_Inflater, zlib.MAX_WBITS), b"\x78"),
    "bz2": partial(_streams, bz2.BZ2Decompressor, b"BZh"),
    "zst": _zstd,
    "zstd": _zstd,
}

#: The suffixes of compressed files that `unpack` reads.
SUFFIXES = tuple(_UNPACKERS)
