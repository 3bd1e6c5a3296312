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

import zstandard

from dbt_tangles.ingest import line_format
from dbt_tangles.ingest.line_format import LINE_COST, Reading
from dbt_tangles.reasons import FileFault

# The bytes read from a file at a time. 8 KB of DEFLATE data unpack to at most 8.5 MB.
PIECE_BYTES = 2**13
# The bytes of these that a Zstandard decoder takes at a time. They unpack to at most 8.5 MB, too.
_ZSTD_BYTES = 2**8
# The bytes of unpacked text that are split into lines at a time.
CHUNK_BYTES = 2**20

_ZSTD_HEADER_BYTES = 18
_MOST_WINDOW = 2**27
_ERRORS = (zlib.error, OSError, zstandard.ZstdError)


class FaultError(Exception):
    """The reading of a file stopped at a fault."""

    def __init__(self, fault: FileFault, detail: str | None = None) -> None:
        super().__init__(detail or fault.description)
        self.fault = fault.value


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


class _ZstdDecoder:
    """A Zstandard decoder with the interface of bz2's."""

    def __init__(self) -> None:
        # The library refuses windows of more than 128 MiB, as the command `zstd -d` does.
        self._decoder = zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)
        self._rest = self._head = b""

    def decompress(self, piece: bytes, _max_length: int) -> bytes:
        given = self._rest + piece
        taken, self._rest = given[:_ZSTD_BYTES], given[_ZSTD_BYTES:]
        self._head += taken[: _ZSTD_HEADER_BYTES - len(self._head)]
        try:
            return self._decoder.decompress(taken)
        except zstandard.ZstdError as error:
            if refusal := _refusal(self._head):
                raise FaultError(FileFault.UNSUPPORTED_COMPRESSION, refusal) from error
            raise

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data + self._rest


def _refusal(head: bytes) -> str | None:
    """Return why sound Zstandard data are not read, given the beginning of a frame; None if they would be read."""
    try:
        frame = zstandard.get_frame_parameters(head)
    except zstandard.ZstdError:
        return None
    if frame.window_size > _MOST_WINDOW:
        bits = (frame.window_size - 1).bit_length()
        return (
            f"its window has {frame.window_size:,} bytes, more than {_MOST_WINDOW:,}: unpack the file"
            f" (zstd -d --long={bits}), or pack it again without --long"
        )
    return "it needs a dictionary: unpack the file (zstd -d -D DICTIONARY)" if frame.dict_id else None


def _streams(new_decoder: Callable[[], Any], magics: tuple[bytes, ...], file: Any) -> Iterator[bytes]:
    """Unpack consecutive compressed streams, as gzip and bzip2 allow; zeros after a stream are padding."""
    start = 0
    while True:
        start = _skip_zeros(file, start) if start else 0
        file.seek(start)
        lead = file.read(max(map(len, magics)))
        if not lead:
            return
        if not lead.startswith(magics):
            if any(magic.startswith(lead) for magic in magics):
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
        except _ERRORS as error:
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
        except _ERRORS:
            return


# The frames of data, and the 16 kinds of frames that decoders skip.
_ZSTD = partial(
    _streams, _ZstdDecoder, (b"\x28\xb5\x2f\xfd", *(bytes([n]) + b"\x2a\x4d\x18" for n in range(0x50, 0x60)))
)

_UNPACKERS: dict[str, Callable[[Any], Iterator[bytes]]] = {
    "gz": partial(_streams, partial(_Inflater, zlib.MAX_WBITS | 16), (b"\x1f\x8b\x08",)),
    "deflate": partial(_streams, partial(_Inflater, zlib.MAX_WBITS), (b"\x78",)),
    "bz2": partial(_streams, bz2.BZ2Decompressor, (b"BZh",)),
    "zst": _ZSTD,
    "zstd": _ZSTD,
}

#: The suffixes of compressed files that `unpack` reads.
SUFFIXES = tuple(_UNPACKERS)

#: Names of compressed files that are not read. Spark would read most of them as text. It takes .lz4 and .snappy for
#: Hadoop's own formats, and then tries to allocate gigabytes for files of other tools.
UNREAD_SUFFIX = re.compile(r"[.](7z|br|lz|lz4|lzma|lzo|rar|snappy|sz|tbz2?|tgz|txz|xz|z|zip)$", re.IGNORECASE)
