"""Population count and bit positions of 64-bit words (H. S. Warren, Hacker's Delight, chapter 5)."""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner, interpreted_as


def _bit_count(word):
    return int(word).bit_count()


@inner
@interpreted_as(_bit_count)
def popcount(word):
    """Count the set bits of a uint64."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def lowest_bit(word):
    """Return the index of the lowest set bit of a uint64; at least one bit is set."""
    return popcount(~word & (word - np.uint64(1)))
