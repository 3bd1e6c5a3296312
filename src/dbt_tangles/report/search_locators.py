"""Locators of the search index: a hash table from ids to the chunks that have them, in shards (CRC-32).

The low bits of an id's CRC-32 choose a shard. The shard has a string for each chunk: the 18 high bits of the CRC-32 of
each id in the chunk, as three digits in base 64. Two ids may have the same bits, so the page compares the chunk's ids.
"""

from __future__ import annotations

import zlib

import numpy as np

_DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", np.uint8)
_IDS_OF_LOCATOR = 16_384
_WIDTH = 3
_LOW_BITS = 32 - 6 * _WIDTH


def digits_of(numbers: np.ndarray, width: int) -> np.ndarray:
    """Write numbers in base 64, the most significant digit first: an array of characters, `width` for each number."""
    return _DIGITS[(numbers[:, None] >> (6 * np.arange(width - 1, -1, -1))) & 63]


class Locators:
    """The locators of an index.

    Attributes:
        number: The number of locators, a power of two.
        most_bytes: The most bytes that they take.
        by_number: For each locator and chunk, the fingerprints of the chunk's ids.
    """

    def __init__(self, total: int, chunks: int) -> None:
        """Create empty locators for a number of ids in a number of chunks."""
        self.number = min(1 << max(0, (total - 1) // _IDS_OF_LOCATOR).bit_length(), 1 << _LOW_BITS)
        self.most_bytes = total * _WIDTH + self.number * (60 + 3 * chunks)
        self.by_number: list[list[str]] = [[] for _ in range(self.number)]

    def add(self, ids: list[str]) -> None:
        """Add the ids of the next chunk."""
        sums = np.unique(np.fromiter((zlib.crc32(id_.encode()) for id_ in ids), np.int64, len(ids)))
        numbers = sums & (self.number - 1)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(self.number + 1))
        digits = digits_of(sums[order] >> _LOW_BITS, _WIDTH)
        for number, fingerprints in enumerate(self.by_number):
            fingerprints.append(digits[ends[number] : ends[number + 1]].tobytes().decode("ascii"))
