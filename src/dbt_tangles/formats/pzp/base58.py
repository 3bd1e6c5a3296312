"""Base58, many strings at a time.

One string costs Python's big integers several microseconds; a column of them is a matrix product and a few carries.

Source: bs58 and base-x (the alphabet is Bitcoin's; each leading zero byte is a leading "1"; nothing else is skipped).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa

ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

_LETTERS = np.frombuffer(ALPHABET, np.uint8)
_DIGITS = np.full(256, 255, np.uint8)
_DIGITS[_LETTERS] = np.arange(58, dtype=np.uint8)

# Five digits make a group (less than 30 bits), two bytes a piece; sums of products stay far below 2**63. They are
# integers because a product of floats goes to a library that may keep other cores spinning for it.
_GROUP_DIGITS = 5
_GROUP = 58**_GROUP_DIGITS


@cache
def longest(size: int) -> int:
    """The most characters that so many bytes (32 or 64) can take; anything longer decodes to more bytes."""
    return len(_digits_of(256**size - 1))


def encode(digests: Sequence[bytes | None], size: int = 32) -> pa.StringArray:
    """Write many byte strings in base58.

    Args:
        digests: byte strings of one size; None becomes null.
        size: that size.
    """
    is_present = np.array([digest is not None for digest in digests], np.bool_)
    raw = np.frombuffer(b"".join(filter(None, digests)), np.uint8).reshape(-1, size)
    rest = raw.view(">u2").astype(np.int64) @ _piece_weights(size)
    width = rest.shape[1]
    carry = np.zeros(len(raw), np.int64)
    for place in range(width - 1, -1, -1):
        carry, rest[:, place] = np.divmod(rest[:, place] + carry, _GROUP)
    digits = np.empty((len(raw), width, _GROUP_DIGITS), np.uint8)
    for place in range(_GROUP_DIGITS - 1, -1, -1):
        rest, digits[:, :, place] = np.divmod(rest, 58)
    digits = digits.reshape(len(raw), width * _GROUP_DIGITS)
    lengths = digits.shape[1] - _leading_zeros(digits) + _leading_zeros(raw)
    kept = np.arange(digits.shape[1] + size) >= (digits.shape[1] + size - lengths)[:, None]
    padded = np.zeros((len(raw), digits.shape[1] + size), np.uint8)
    padded[:, size:] = digits
    texts = _LETTERS[padded[kept]]
    offsets = np.zeros(len(digests) + 1, np.int32)
    all_lengths = np.zeros(len(digests), np.int64)
    all_lengths[is_present] = lengths
    np.cumsum(all_lengths, out=offsets[1:])
    validity = None if is_present.all() else pa.py_buffer(np.packbits(is_present, bitorder="little").tobytes())
    return pa.StringArray.from_buffers(len(digests), pa.py_buffer(offsets), pa.py_buffer(texts), validity)


def decode(texts: Sequence[str | None], size: int) -> list[bytes | None]:
    """Read many strings that should be base58 of so many bytes.

    Args:
        texts: any strings; None stays None.
        size: 32 or 64.

    Returns:
        The bytes of each, None where a string is not base58 or has another number of bytes.
    """
    width = longest(size)
    decoded: list[bytes | None] = [None] * len(texts)
    fitting = [place for place, text in enumerate(texts) if text is not None and len(text) <= width and text.isascii()]
    if not fitting:
        return decoded
    lines = b"".join([texts[place].encode().rjust(width, b"1") for place in fitting])  # type: ignore[union-attr]
    digits = _DIGITS[np.frombuffer(lines, np.uint8)].reshape(-1, width)
    is_base58 = (digits < 58).all(axis=1)
    lengths = np.array([len(texts[place]) for place in fitting])  # type: ignore[arg-type]
    # One piece more in front, for what does not fit.
    groups = np.zeros((len(digits), -(-width // _GROUP_DIGITS) * _GROUP_DIGITS), np.int64)
    groups[:, -width:] = digits * is_base58[:, None]
    groups = groups.reshape(len(digits), -1, _GROUP_DIGITS) @ 58 ** np.arange(_GROUP_DIGITS - 1, -1, -1)
    pieces = np.ascontiguousarray((groups @ _group_weights(size)).T)
    carry = np.zeros(len(fitting), np.int64)
    for place in range(len(pieces) - 1, -1, -1):
        pieces[place] += carry
        carry = pieces[place] >> 16
    raw = np.ascontiguousarray(pieces.T).astype(np.uint16).astype(">u2").view(np.uint8)
    # The string says how many bytes it has: one for each leading "1", and those of the number.
    ones = np.minimum(_leading_zeros(digits) - (width - lengths), lengths)
    counts = ones + raw.shape[1] - _leading_zeros(raw)
    is_sound = is_base58 & (counts == size)
    tails = np.ascontiguousarray(raw[:, raw.shape[1] - size :]).tobytes()
    for row in np.flatnonzero(is_sound).tolist():
        decoded[fitting[row]] = tails[row * size : (row + 1) * size]
    return decoded


def _leading_zeros(matrix: np.ndarray) -> np.ndarray:
    is_zero = matrix == 0
    return np.where(is_zero.all(axis=1), matrix.shape[1], (~is_zero).argmax(axis=1))


def _digits_of(number: int) -> list[int]:
    digits = []
    while number:
        number, digit = divmod(number, 58)
        digits.append(digit)
    return digits[::-1]


@cache
def _piece_weights(size: int) -> np.ndarray:
    """What each two bytes of `size` add to each group of digits, biggest first."""
    return _expansions(2**16, size // 2, _GROUP, -(-longest(size) // _GROUP_DIGITS))


@cache
def _group_weights(size: int) -> np.ndarray:
    """What each group of digits adds to each two bytes, biggest first."""
    return _expansions(_GROUP, -(-longest(size) // _GROUP_DIGITS), 2**16, size // 2 + 1)


def _expansions(base: int, powers: int, other: int, width: int) -> np.ndarray:
    """Write the powers of one base in another, the greatest first."""
    weights = np.zeros((powers, width), np.int64)
    for row in range(powers):
        number = base ** (powers - 1 - row)
        for place in range(width - 1, -1, -1):
            number, weights[row, place] = divmod(number, other)
    return weights
