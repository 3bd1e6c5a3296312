"""Small steps between columns and arrays that several kernels take."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def flags(table: pa.Table, name: str) -> np.ndarray:
    """Lay a column of booleans open; null is false."""
    return table[name].fill_null(False).to_numpy()


def starts(counts: np.ndarray) -> np.ndarray:
    """Say where runs of these lengths start, if they lie behind each other, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Sum runs of values.

    Args:
        values: int or bool[values].
        start: int64[runs + 1], into the values.

    Returns:
        int64[runs].
    """
    return np.diff(starts(values)[start])


def keep_entries(start: np.ndarray, values: np.ndarray, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out some entries of compressed rows.

    Args:
        start: int64[rows + 1], into the values.
        values: Of any type.
        is_kept: bool[values].

    Returns:
        int64[rows + 1] into what is kept.
    """
    return starts(sums(is_kept, start)), values[is_kept]


def runs(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take some of the runs of compressed rows, in any order.

    Args:
        start: int64[all + 1], into some values.
        rows: int[rows], which runs.

    Returns:
        int64[rows + 1] into int64[...], where in the values each entry is.
    """
    first = start[rows]
    counts = start[1:][rows] - first
    taken_start = starts(counts)
    return taken_start, np.arange(taken_start[-1]) + np.repeat(first - taken_start[:-1], counts)


def first_rows(code: np.ndarray, count: int) -> np.ndarray:
    """Find the first row of each code.

    Args:
        code: int[rows].
        count: How many codes there are; each is some row's.

    Returns:
        int64[count].
    """
    first = np.empty(count, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first
