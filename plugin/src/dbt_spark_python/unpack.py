"""Lines of files that Python unpacks: as many as can be read, and a row that says what is wrong with a file.

Spark gives up a whole query for one damaged file, or, told to ignore such files, drops what follows the damage, and
some of what comes before, without a word. Here a file is read to the very byte at which it stops making sense.

Pure functions on Arrow batches. They are pickled by value (`lines.py` sees to that), so workers need not have this
package.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

#: What `unpack` gives: a line, or, where `fault` is not null, the row that says what is wrong with its file.
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

# So much of a file is read at a time. No 8 KB of DEFLATE data are more than 8.5 MB unpacked.
PIECE_BYTES = 2**13
# So much of what is unpacked is split into lines at a time.
CHUNK_BYTES = 2**20

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Fault:
    """Codes for what is wrong with a file, as they stand in the tables."""

    TRUNCATED = "truncated_file"
    TRAILING_GARBAGE = "trailing_garbage"
    CORRUPT = "corrupt_file"
    NOT_COMPRESSED = "not_compressed"
    UNSUPPORTED = "unsupported_compression"
    DANGLING_LINK = "dangling_link"


#: What they mean.
FAULTS = {
    Fault.TRUNCATED: "The compressed file ends early. What is there is read.",
    Fault.TRAILING_GARBAGE: "Something else follows the compressed data. The data are read, the rest is not.",
    Fault.CORRUPT: "The compressed data, or their checksum, are wrong from some place on. What is before is read.",
    Fault.NOT_COMPRESSED: "The file is not compressed as its name says. Nothing of it is read.",
    Fault.UNSUPPORTED: "The file is compressed, by its name, in a way that is not read.",
    Fault.DANGLING_LINK: "The link leads nowhere.",
}


class _FaultError(Exception):
    """What stopped the reading of a file."""

    def __init__(self, fault: str, detail: str | None = None) -> None:
        super().__init__(detail or FAULTS[fault])
        self.fault = fault


def unpack(batches: Iterator[pa.RecordBatch], separator: bytes, max_bytes: int) -> Iterator[pa.RecordBatch]:
    r"""Read the lines of files.

    Args:
        batches: One row for each file: `source_file`, the name it gets in the result; `path`, which says by its suffix
            how it is compressed; `content`, or no such column where `path` is `file:` and a path on this machine.
        separator: What ends a line. Where it is not a line feed, blank lines are passed over.
        max_bytes: Longer lines are cut; `raw_length` is what they had. No memory is taken for the rest.

    Yields:
        Record batches of `LINE_SCHEMA`: for each file its lines as Spark's text reader has them, numbered from 0, then
        a row with the fault, if there is one.

    Raises:
        RuntimeError: A file is not there, or must not be read.
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
                    yield from lines_of(name, _chunks(path, file), separator, max_bytes)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def read_blocks(batches: Iterator[pa.RecordBatch], separator: bytes, max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Read the lines of files on this machine, large ones in blocks.

    Args:
        batches: One row for each block: `source_file`, the name its file gets in the result; `path`; `start` and `end`,
            bytes: the lines that begin between them are read; `fault`, where nothing is read of the file.
        separator: As for `unpack`. Only where it is a line feed may a file have several blocks.
        max_bytes: As for `unpack`.

    Yields:
        As `unpack`. Lines of a block are numbered from the byte at which it starts.

    Raises:
        RuntimeError: A file is not there, or must not be read.
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
                        chunks, first = _chunks(path, file), 0
                    else:
                        first = _line_start(file, start)
                        chunks = _range(file, first, _line_start(file, end))
                    yield from lines_of(name, chunks, separator, max_bytes, start, is_whole=first == 0)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def _line_start(file: Any, place: int) -> int:
    """Find the first byte at or behind a place where a line begins, or where the file ends."""
    if not place:
        return 0
    place -= 1
    file.seek(place)
    while chunk := file.read(CHUNK_BYTES):
        if (found := chunk.find(b"\n")) >= 0:
            return place + found + 1
        place += len(chunk)
    return place


def _range(file: Any, start: int, end: int) -> Iterator[bytes]:
    file.seek(start)
    while start < end and (chunk := file.read(min(CHUNK_BYTES, end - start))):
        start += len(chunk)
        yield chunk


def lines_of(
    name: str, chunks: Iterator[bytes], separator: bytes, max_bytes: int, block_start: int = 0, is_whole: bool = True
) -> Iterator[pa.RecordBatch]:
    """Split the text of one file, or of a block of it, into rows of `LINE_SCHEMA`."""
    # A block has no more lines than bytes, so that no two lines of a file get one number.
    count, fault = block_start, None
    turns = _split(chunks, separator, max_bytes, is_whole)
    while True:
        try:
            lines, lengths = next(turns)
        except StopIteration as end:
            fault = end.value
            break
        if separator != b"\n":
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
    """Yield lines and their lengths, and return the `_FaultError` that ended the text, if one did."""
    fault = None
    rest = b""  # after the last separator
    head, head_length = b"", 0  # what came before the rest of a line too long to be kept, cut
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
                lines[0], lengths[0] = (head + lines[0])[:max_bytes], lengths[0] + head_length
                head, head_length = b"", 0
            if max(lengths) > max_bytes:
                lines = [line[:max_bytes] for line in lines]
            yield lines, lengths
        if chunk is None:
            return fault
        if len(rest) > max_bytes:
            cut = len(rest) - len(separator) + 1  # a separator may have begun
            head, head_length = (head + rest[:cut])[:max_bytes], head_length + cut
            rest = rest[cut:]


def _chunks(path: str, file: Any) -> Iterator[bytes]:
    """Yield what is in a file, unpacked as its name asks for.

    Raises:
        _FaultError: That is all there is to be had.
    """
    return _UNPACKERS.get(path.rpartition(".")[2].lower(), _plain)(file)


def _plain(file: Any) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


class _Inflater:
    """zlib's decoder with the interface of bz2's."""

    needs_input = True  # pieces are small enough to bound what comes out of one

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
    """Unpack one stream after another, as gzip and bzip2 do; zeros after a stream are padding."""
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
    """Unpack once more, byte by byte from `at` on: a decoder that stumbles forgets what it had from the same piece."""
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
    """Unpack Zstandard; the last 8 KB before a damage may be lost."""
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

#: How the names of compressed files end that `unpack` takes.
SUFFIXES = tuple(_UNPACKERS)
