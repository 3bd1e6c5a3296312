"""Dense integer ids: nodes numbered by graph, then by id, so that kernels compare integers instead of strings.

The nodes of a graph are contiguous. Within a graph they ascend by id (by UTF-8 byte, which is code point order), so a
tie-break by id is a comparison of two integers.

The numbering is exact: hash tables narrow the search, and the bytes of the ids decide.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.columns.arrays import starts
from dbt_tangles.columns.strings import (
    Strings,
    check_size,
    draw_keys,
    hash_strings,
    large_strings,
    same,
    strings_of,
)
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Nodes(NamedTuple):
    """The numbered rows of many graphs."""

    graph_start: np.ndarray  # int64[graphs + 1]; the nodes of graph g are graph_start[g] to graph_start[g + 1] - 1
    row: np.ndarray  # int32[nodes], the row of each node. Within a graph, nodes ascend by id


def group_rows(*parts: Strings) -> tuple[np.ndarray, int]:
    """Number the graphs of a table.

    Args:
        parts: The key columns of a graph, one or two. Null is a value of its own.

    Returns:
        int32[rows], the graph of each row, numbered by first appearance; and the number of graphs.

    Raises:
        OverflowError: There are more than 2^31 - 1 rows.
    """
    check_size(len(parts[0].valid))
    keys = draw_keys()
    hashes = hash_strings(parts[-1], keys)
    if len(parts) > 1:
        hashes ^= hash_strings(parts[0], keys[::-1].copy())
    graph, first_row = _group(hashes, parts[0], parts[-1])
    return graph, len(first_row)


def number_rows(table: pa.Table, keys: Sequence[str], name: str) -> tuple[Nodes, Strings]:
    """Number the rows of a table by group, then id.

    Args:
        table: The rows.
        keys: The key columns of a group, one or two. Null is a value of its own.
        name: The column of ids.

    Returns:
        The nodes, and the id of each row.

    Raises:
        ValueError: An id is null.
        OverflowError: There are more than 2^31 - 1 rows.
    """
    ids = strings_of(table[name])
    if not ids.valid.all():
        raise ValueError(f"a {name} is null: give every row an id")
    return number_nodes(*group_rows(*(strings_of(table[key]) for key in keys)), ids), ids


def number_nodes(graph: np.ndarray, graph_count: int, ids: Strings) -> Nodes:
    """Number the rows of a table by graph, then by id.

    Args:
        graph: int32[rows], the graph of each row.
        graph_count: The number of graphs.
        ids: The id of each row.

    Returns:
        The nodes. Rows that share graph and id (callers avoid these) are adjacent.
    """
    by_id = pc.sort_indices(large_strings(ids)).to_numpy()
    row = by_id[np.argsort(graph[by_id], kind="stable")].astype(np.int32)
    return Nodes(starts(np.bincount(graph, minlength=graph_count)), row)


@compiled
def _group(hashes, first_part, last_part):
    """Number the rows by two columns and their hashes; return the number of each row and the first row of each number.

    The table of slots grows before it is half full.
    """
    n = len(hashes)
    graph = np.empty(n, np.int32)
    first_row = np.empty(n, np.int32)
    slots = np.full(1024, np.int32(-1))
    mask = np.uint64(len(slots) - 1)
    count = 0
    for row in range(n):
        slot = hashes[row] & mask
        while slots[slot] >= 0 and not _is_alike(row, first_row[slots[slot]], hashes, first_part, last_part):
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first_row[count] = row
            count += 1
        graph[row] = slots[slot]
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), np.int32(-1))
            mask = np.uint64(len(slots) - 1)
            for g in range(count):
                slot = hashes[first_row[g]] & mask
                while slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & mask
                slots[slot] = g
    return graph, first_row[:count].copy()


@inner
def _is_alike(row, other, hashes, first_part, last_part):
    """Whether two rows have the same values."""
    return (
        hashes[row] == hashes[other]
        and first_part.valid[row] == first_part.valid[other]
        and last_part.valid[row] == last_part.valid[other]
        and same(first_part, row, first_part, other)
        and same(last_part, row, last_part, other)
    )


@compiled
def number_ids(nodes, ids):
    """Number the distinct ids of each graph, where several rows may share one.

    Returns:
        int32[nodes]: equal for rows that share graph and id, ascending by graph, then id, without gaps.
    """
    graph_start, row = nodes
    number = np.empty(len(row), np.int32)
    count = np.int32(-1)
    for g in range(len(graph_start) - 1):
        for node in range(graph_start[g], graph_start[g + 1]):
            if node == graph_start[g] or not same(ids, row[node], ids, row[node - 1]):
                count += 1
            number[node] = count
    return number
