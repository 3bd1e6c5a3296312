"""Lines of files that Python unpacks: as many as can be read, and a row that states the fault of a file.

Spark gives up a whole query for one damaged file, or, told to ignore such files, drops the text behind the damage, and
some of the text before it, without a word. Here a file is read to the very byte at which it stops making sense.

Pure functions on Arrow batches. They are pickled by value (`lines.py` sees to that), so workers need not have this
package.
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

#: The rows of `unpack`: a line, or, where `fault` is not null, the fault of a file.
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
# So much of the unpacked text is split into lines at a time.
CHUNK_BYTES = 2**20

#: A compressed file may unpack to so many times its size. A JSON log compresses by 3 to 30, zeros by 1,000 (gzip) to
#: 1,000,000 (bzip2).
UNPACK_RATIO = 200
#: To so many bytes any file may unpack.
FREE_BYTES = 2**24
#: The cost of a line besides its bytes, within those limits: a row is made of each, of an empty one too.
LINE_COST = 64

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Without a search back over a long run of carriage returns: text-mode copies make at most two of one.
_LINE_END = re.compile(rb"\r{0,2}\n|\r")
_HELD_BACK = 2


@dataclass(frozen=True)
class Reading:
    r"""How the lines of files are read.

    Attributes:
        max_bytes: Longer lines are cut; of the rest no memory is taken.
        separator: The text between two lines. Where it is not a line feed, lines that are blank are passed over, and
            carriage returns are read as line ends (`\r\n` as one).
        unpack_ratio: How many times its size a compressed file may unpack to; `FREE_BYTES` are let in anyway, and each
            line costs `LINE_COST` bytes more than it has.
    """

    max_bytes: int
    separator: str = "\n"
    unpack_ratio: int = UNPACK_RATIO

    @property
    def is_by_line(self) -> bool:
        """Whether a line feed ends each line."""
        return self.separator == "\n"


class Fault:
    """Codes of the faults of files, as they stand in the tables."""

    TRUNCATED = "truncated_file"
    TRAILING_GARBAGE = "trailing_garbage"
    CORRUPT = "corrupt_file"
    NOT_COMPRESSED = "not_compressed"
    UNSUPPORTED = "unsupported_compression"
    DANGLING_LINK = "dangling_link"
    OVER_LIMIT = "over_unpack_limit"


#: Their meanings.
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
        batches: One row for each file: `source_file`, the name it gets in the result; `path`, which says by its suffix
            how it is compressed; `content`, or no such column where `path` is `file:` and a path on this machine.
        reading: How they are read.

    Yields:
        Record batches of `LINE_SCHEMA`: for each file its lines as Spark's text reader has them, numbered from 0, then
        a row with the fault, if there is one. `raw_length` is the length of a line before it was cut.

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
                    yield from lines_of(name, _chunks(path, file, reading), reading)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def read_blocks(batches: Iterator[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the lines of files on this machine, large ones in blocks.

    Args:
        batches: One row for each block: `source_file`, the name its file gets in the result; `path`; `start` and `end`,
            bytes: the lines that begin between them are read; `fault`, where the file is not read at all.
        reading: How they are read. Only where lines end in a line feed may a file have several blocks.

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
                        yield from lines_of(name, _chunks(path, file, reading), reading)
                    elif (first := _first_line(file, start, end)) is not None:
                        chunks = _to_line_end(file, first, end)
                        yield from lines_of(name, chunks, reading, start, is_whole=first == 0)
            except OSError as error:
                raise RuntimeError(f"while reading file {path}: {error.strerror or error}") from error


def _first_line(file: Any, start: int, end: int) -> int | None:
    """Find the first byte of a block at which a line begins, or None if the whole block is inside a line.

    No byte behind the block is read: of a file without line ends, each block would read all the rest.
    """
    if not start:
        return 0
    at, last = start - 1, end - 1  # a line begins behind the line feed of the one before
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
    # A block has no more lines than bytes, so that no two lines of a file get one number.
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
    """Yield lines and their lengths, and return the `_FaultError` that ended the text, if one did."""
    fault = None
    rest = b""  # after the last separator
    head, head_length = b"", 0  # of a line too long to be kept: its beginning, cut, and the length before `rest`
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
            cut = len(rest) - len(separator) + 1  # a separator may have begun
            head, head_length = head + rest[: min(cut, max_bytes - len(head))], head_length + cut
            rest = rest[cut:]


def _with_line_feeds(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Replace the carriage returns of a text: each, and each that stands before a line feed with that, is a line end.

    JSON has raw carriage returns between its tokens alone, so that no value is another afterwards.
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
    """Yield the text of a file, unpacked as its name asks for.

    Raises:
        _FaultError: That is all there is to be had.
    """
    unpacker = _UNPACKERS.get(path.rpartition(".")[2].lower())
    if unpacker is None:
        return _plain(file)
    stored = file.seek(0, io.SEEK_END)
    file.seek(0)
    return _bounded(unpacker(file), reading, stored)


def _bounded(chunks: Iterator[bytes], reading: Reading, stored: int) -> Iterator[bytes]:
    """Yield an unpacked text as far as the limit goes, by bytes and by lines.

    Raises:
        _FaultError: The text goes on.
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
    """The cost of the first `size` bytes of a text."""
    return size + LINE_COST * text.count(separator, 0, size)


def _plain(file: Any) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


class _Inflater:
    """zlib's decoder with the interface of bz2's."""

    needs_input = True  # pieces are small enough to bound the text of one

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
    """Unpack once more, byte by byte from `at` on: a decoder that stumbles forgets the text of the same piece."""
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
