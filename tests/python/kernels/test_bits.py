"""Bits of 64-bit words compared with Python's; tests of the kernels that use them cover the other data structures."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.structures import bits
from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def in_word(word):
    return bits.popcount(word), bits.lowest_bit(word), bits.highest_bit(word)


@given(st.integers(1, 2**64 - 1).map(np.uint64))
def test_bits(word):
    number = int(word)
    assert in_word(word) == (number.bit_count(), (number & -number).bit_length() - 1, number.bit_length() - 1)
