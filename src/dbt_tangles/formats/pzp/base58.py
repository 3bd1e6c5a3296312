"""Base58 encoding and decoding of whole columns (bs58, base-x).

With Python's big integers one string takes several microseconds; a column takes a matrix product and a few carries.

Source: bs58 and base-x (the alphabet is Bitcoin's; each leading zero byte is a leading "1"; other characters are
errors).
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa

ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

_LETTERS = np.frombuffer(ALPHABET, np.uint8)
_DIGITS = np.full(256, 255, np.uint8)
_DIGITS[_LETTERS] = np.arange(58, dtype=np.uint8)

# Five digits form a group (less than 30 bits), two bytes a piece; sums of products stay far below 2**63. Integers are
# used because a product of floats runs in a library that may keep other cores busy waiting.
_GROUP_DIGITS = 5
_GROUP = 58**_GROUP_DIGITS


def longest(size: int) -> int:
    """Return the maximum length of the base58 of 32 or 64 bytes; a longer string decodes to more bytes."""
    return math.ceil(size * math.log(256, 58))


def encode(digests: Sequence[bytes | None], size: int = 32) -> pa.StringArray:
    """Encode many byte strings.

    Args:
        digests: Byte strings of one size; missing ones become null.
        size: That size.
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
    """Decode many strings to a fixed number of bytes.

    Args:
        texts: Any strings; missing ones stay missing.
        size: 32 or 64.

    Returns:
        The bytes of each string; missing if it is not base58 or has another number of bytes.
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
    # One extra piece in front receives the overflow.
    groups = np.zeros((len(digits), -(-width // _GROUP_DIGITS) * _GROUP_DIGITS), np.int64)
    groups[:, -width:] = digits * is_base58[:, None]
    groups = groups.reshape(len(digits), -1, _GROUP_DIGITS) @ 58 ** np.arange(_GROUP_DIGITS - 1, -1, -1)
    pieces = np.ascontiguousarray((groups @ _group_weights(size)).T)
    carry = np.zeros(len(fitting), np.int64)
    for place in range(len(pieces) - 1, -1, -1):
        pieces[place] += carry
        carry = pieces[place] >> 16
    raw = np.ascontiguousarray(pieces.T).astype(np.uint16).astype(">u2").view(np.uint8)
    # The encoded length in bytes: one for each leading "1", plus those of the number.
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


@cache
def _piece_weights(size: int) -> np.ndarray:
    """Expand the weight of each two bytes of `size` in groups of digits, most significant first."""
    return _expansions(2**16, size // 2, _GROUP, -(-longest(size) // _GROUP_DIGITS))


@cache
def _group_weights(size: int) -> np.ndarray:
    """Expand the weight of each group of digits in pieces of two bytes, most significant first."""
    return _expansions(_GROUP, -(-longest(size) // _GROUP_DIGITS), 2**16, size // 2 + 1)


def _expansions(base: int, powers: int, other: int, width: int) -> np.ndarray:
    """Expand the powers of one base in another, most significant first."""
    weights = np.zeros((powers, width), np.int64)
    for row in range(powers):
        number = base ** (powers - 1 - row)
        for place in range(width - 1, -1, -1):
            number, weights[row, place] = divmod(number, other)
    return weights
