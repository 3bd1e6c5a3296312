"""Decompresses files in Python, up to the exact byte at which a file becomes invalid or exceeds a limit.

For one damaged file Spark either fails the whole query or, if told to ignore such files, silently drops the text after
the damage and some of the text before it. The decoders here yield all text before the damage, then raise `FaultError`.
"""

import bz2
import io
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from dbt_tangles.ingest import line_format
from dbt_tangles.ingest.file_faults import FaultError
from dbt_tangles.ingest.line_format import LINE_COST, Reading
from dbt_tangles.reasons import FileFault

# The bytes read from a file at a time. 8 KB of DEFLATE data unpack to at most 8.5 MB.
PIECE_BYTES = 2**13
# The bytes of unpacked text that are split into lines at a time.
CHUNK_BYTES = 2**20


def read_chunks(path: str, file: Any, reading: Reading) -> Iterator[bytes]:
    """Yield the text of a file, unpacked according to its suffix.

    Raises:
        FaultError: The file is damaged or exceeds a limit.
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
        FaultError: The text is longer.
    """
    separator, most = reading.separator.encode(), max(line_format.FREE_BYTES, reading.unpack_ratio * stored)
    left = most
    for chunk in chunks:
        cost = _cost(chunk, separator, len(chunk))
        if cost > left:
            kept = chunk[: bisect_right(range(len(chunk)), left, key=partial(_cost, chunk, separator)) - 1]
            end = kept.rfind(separator)
            yield kept[: end + len(separator)] if end >= 0 else kept
            raise FaultError(
                FileFault.OVER_UNPACK_LIMIT,
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
                raise FaultError(FileFault.TRUNCATED_FILE)
            if start:
                raise FaultError(
                    FileFault.TRAILING_GARBAGE, f"the compressed data end at byte {start}, the file does not"
                )
            raise FaultError(FileFault.NOT_COMPRESSED)
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
            raise FaultError(FileFault.TRUNCATED_FILE, f"the compressed data go on behind byte {at}, the file does not")
        try:
            for text in _unpacked(decoder, piece):
                given += len(text)
                yield text
        except (zlib.error, OSError) as error:
            yield from _last_bytes(new_decoder, file, start, at, given)
            raise FaultError(FileFault.CORRUPT_FILE, f"from byte {at} on: {error}") from error
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
            raise FaultError(FileFault.TRUNCATED_FILE) from error
        raise (
            FaultError(FileFault.CORRUPT_FILE, str(error)) if is_begun else FaultError(FileFault.NOT_COMPRESSED)
        ) from error


_UNPACKERS: dict[str, Callable[[Any], Iterator[bytes]]] = {
    "gz": partial(_streams, partial(_Inflater, zlib.MAX_WBITS | 16), b"\x1f\x8b\x08"),
    "deflate": partial(_streams, partial(_Inflater, zlib.MAX_WBITS), b"\x78"),
    "bz2": partial(_streams, bz2.BZ2Decompressor, b"BZh"),
    "zst": _zstd,
    "zstd": _zstd,
}

#: The suffixes of compressed files that `unpack` reads.
SUFFIXES = tuple(_UNPACKERS)

#: Names of compressed files that are not read. Spark would read most of them as text. It takes .lz4 and .snappy for
#: Hadoop's own formats, and then tries to allocate gigabytes for files of other tools.
UNREAD_SUFFIX = re.compile(r"[.](7z|br|lz|lz4|lzma|lzo|rar|snappy|sz|tbz2?|tgz|txz|xz|z|zip)$", re.IGNORECASE)
