"""Helpers for Arrow columns and compressed sparse rows (offsets and values)."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa


def flags(table: pa.Table, name: str) -> np.ndarray:
    """Convert a boolean column to an array; null becomes false."""
    return table[name].fill_null(False).to_numpy()


def starts(counts: np.ndarray) -> np.ndarray:
    """Compute offsets from lengths: int64[runs + 1]; the last entry is the total."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Sum each run of values.

    Args:
        values: int or bool[values].
        start: int64[runs + 1], offsets into the values.

    Returns:
        int64[runs].
    """
    return np.diff(starts(values)[start])


def keep_entries(start: np.ndarray, values: np.ndarray, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Filter the entries of compressed rows.

    Args:
        start: int64[rows + 1], offsets into the values.
        values: The entries, of any type.
        is_kept: bool[values].

    Returns:
        int64[rows + 1], offsets into the kept values; the kept values.
    """
    return starts(sums(is_kept, start)), values[is_kept]


def runs(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select some compressed rows, in any order.

    Args:
        start: int64[all + 1], offsets into the values.
        rows: int[rows], the rows to select.

    Returns:
        int64[rows + 1], offsets; int64[...], the index of each selected entry among the values.
    """
    first = start[rows]
    counts = start[1:][rows] - first
    taken_start = starts(counts)
    return taken_start, np.arange(taken_start[-1]) + np.repeat(first - taken_start[:-1], counts)


def ranges(weights: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Cut entries into runs of bounded weight; a heavier entry is a run of its own.

    Args:
        weights: int[entries].
        most: The greatest weight of a run of several entries.

    Yields:
        The begin and end of each run.
    """
    ends = starts(weights)
    begin = 0
    while begin < len(weights):
        end = max(int(np.searchsorted(ends, ends[begin] + most, side="right")) - 1, begin + 1)
        yield begin, end
        begin = end


def first_rows(code: np.ndarray, count: int) -> np.ndarray:
    """Find the first row of each code.

    Args:
        code: int[rows].
        count: The number of codes; each occurs in some row.

    Returns:
        int64[count].
    """
    first = np.empty(count, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first


def lists_by_row(start: np.ndarray, row: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Reorder lists from nodes to rows; rows without a list have an empty one.

    Args:
        start: int64[lists + 1], offsets into entries.
        row: int[lists], the row of each list; distinct.
        count: The number of rows.

    Returns:
        int64[rows + 1], offsets; int64[...], the index of each entry, by row.
    """
    lengths = np.zeros(count, np.int64)
    lengths[row] = np.diff(start)
    return starts(lengths), runs(start, np.argsort(row))[1]


def scatter(values: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Reorder values from nodes to rows.

    Args:
        values: Of any type, one per node.
        row: int[nodes], the row of each node.

    Returns:
        The values, one per row.
    """
    out = np.empty_like(values)
    out[row] = values
    return out
