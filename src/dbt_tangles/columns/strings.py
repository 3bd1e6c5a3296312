"""String columns as byte arrays for kernels: extract, copy, hash, compare.

Hash keys are random per call, so that colliding strings cannot be prepared in advance.
"""

import secrets
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.columns.arrays import starts
from dbt_tangles.kernel_runtime.compiled import compiled, inner, interpreted_as
from dbt_tangles.kernel_runtime.output import in_one_piece

MAX_ROWS = 2**31 - 1
Column = pa.ChunkedArray | pa.Array


class Strings(NamedTuple):
    """A string column as arrays: `offsets` int64[n + 1] into `data` uint8[...], and `valid` bool[n]."""

    offsets: np.ndarray
    data: np.ndarray
    valid: np.ndarray


class Lists(NamedTuple):
    """A column of string lists: `starts` int64[n + 1] into `items`; a null list is empty."""

    starts: np.ndarray
    items: Strings


def strings_of(column: Column) -> Strings:
    """Extract the bytes of a column, in any number of chunks; its type is a string type, or is cast to one."""
    array = in_one_piece(column)
    if not len(array):
        return Strings(np.zeros(1, np.int64), _frozen(np.empty(0, np.uint8)), np.empty(0, np.bool_))
    _, offsets, data = array.buffers()
    at = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data or b"", np.uint8)[at[0] : at[-1]]
    return Strings(at - at[0], _frozen(text), array.is_valid().to_numpy(zero_copy_only=False))


def lists_of(column: Column) -> Lists:
    """Extract the bytes of a column of string lists; values below a null list are dropped."""
    lengths = pc.list_value_length(column).fill_null(0).to_numpy()
    return Lists(starts(lengths), strings_of(pc.list_flatten(column)))


def large_strings(strings: Strings) -> pa.Array:
    """Convert strings to an Arrow array, without a copy; null becomes empty."""
    buffers = pa.py_buffer(strings.offsets), pa.py_buffer(strings.data)
    return pa.LargeStringArray.from_buffers(len(strings.valid), *buffers)


def take_strings(strings: Strings, rows: np.ndarray) -> pa.Array:
    """Gather strings into an Arrow array: int[...] are the rows."""
    return large_strings(strings).take(pa.array(rows))


def copy_strings(strings: Strings, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gather strings as arrays: int64[rows + 1], offsets into uint8[...]."""
    return strings_of(take_strings(strings, rows))[:2]


def hash_strings(strings: Strings, keys: np.ndarray) -> np.ndarray:
    """Hash each string of a column.

    Args:
        strings: The column.
        keys: uint64[2], secret, so that colliding strings cannot be prepared.

    Returns:
        uint64[n].
    """
    return _hashes(*strings, keys)


def draw_keys() -> np.ndarray:
    """Draw random keys for `hash_strings`: uint64[2]."""
    return np.frombuffer(secrets.token_bytes(16), np.uint64).copy()


def check_size(rows: int) -> None:
    """Raise an error if there are more rows than 32-bit ids.

    Raises:
        OverflowError: There are more than 2^31 - 1.
    """
    if rows > MAX_ROWS:
        raise OverflowError(f"{rows} entries in one partition; at most {MAX_ROWS} can be numbered: use more partitions")


def _frozen(data: np.ndarray) -> np.ndarray:
    """Make an array read-only, as Arrow buffers are: numba compiles one kernel per type, writability included."""
    data = data.view()
    data.flags.writeable = False
    return data


def _word_of_bytes(data, at):
    return np.uint64(int.from_bytes(data[int(at) : int(at) + 8].tobytes(), "little"))


@inner
@interpreted_as(_word_of_bytes)
def _word(data, at):
    # Unsigned arithmetic throughout lets the compiler emit one load of eight bytes.
    at = np.uint64(at)
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )


def _fold_of_integers(a, b):
    product = int(a) * int(b)
    return np.uint64((product ^ product >> 64) & (1 << 64) - 1)


@inner
@interpreted_as(_fold_of_integers)
def _fold(a, b):
    """Multiply to 128 bits and combine the halves by XOR."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    cross = a_high * b_low + (a_low * b_low >> half)
    middle = a_low * b_high + (cross & low)
    return (a * b) ^ (a_high * b_high + (cross >> half) + (middle >> half))


@compiled
def _hashes(offsets, data, valid, keys):
    n = len(valid)
    hashes = np.empty(n, np.uint64)
    first_key, second_key = keys
    for row in range(n):
        at, end = offsets[row], offsets[row + 1]
        value = np.uint64(end - at) << np.uint64(1) | np.uint64(valid[row])
        while end - at >= 8:
            value = _fold(_word(data, at) ^ first_key, value ^ second_key)
            at += 8
        rest = np.uint64(0)
        while at < end:
            rest = rest << np.uint64(8) | np.uint64(data[at])
            at += 1
        hashes[row] = _fold(_fold(rest ^ first_key, value ^ second_key) ^ second_key, first_key)
    return hashes


def _same_bytes(some, row, others, other_row):
    return _bytes_of(some, row) == _bytes_of(others, other_row)


def _bytes_of(strings, row):
    return strings.data[strings.offsets[row] : strings.offsets[row + 1]].tobytes()


@inner
@interpreted_as(_same_bytes)
def same(some, row, others, other_row):
    """Whether two rows of `Strings` have the same bytes."""
    at, end, other_at = some.offsets[row], some.offsets[row + 1], others.offsets[other_row]
    if end - at != others.offsets[other_row + 1] - other_at:
        return False
    while end - at >= 8:
        if _word(some.data, at) != _word(others.data, other_at):
            return False
        at += 8
        other_at += 8
    while at < end:
        if some.data[at] != others.data[other_at]:
            return False
        at += 1
        other_at += 1
    return True
