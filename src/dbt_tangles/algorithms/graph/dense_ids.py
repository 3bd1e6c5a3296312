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

from dbt_tangles.algorithms.graph.strings import (
    Strings,
    check_size,
    draw_keys,
    equal,
    hash_strings,
    strings_of,
    take_strings,
)
from dbt_tangles.kernel_runtime.compiled import compiled


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
    while True:
        keys = draw_keys()
        hashes = hash_strings(parts[-1], keys)
        for part in parts[:-1]:
            hashes ^= hash_strings(part, keys[::-1].copy())
        graph, first_row = _group(hashes)
        # A collision of all 64 bits is very rare. The loop then repeats with fresh hash keys.
        if all(_all_equal_to_first(graph, first_row, *part) for part in parts):
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

    Sorting whole strings takes about a second per million. The eight bytes after the common prefix of all ids nearly
    always differ within a graph, so the function sorts these as integers and compares whole ids only where they tie.

    Args:
        graph: int32[rows], the graph of each row.
        graph_count: The number of graphs.
        ids: The id of each row.

    Returns:
        The nodes. Rows that share graph and id (callers avoid these) are adjacent.
    """
    keys = _prefix_keys(ids.offsets, ids.data, _common_prefix(ids.offsets, ids.data))
    graph_start, row = counting_sort(np.argsort(keys), graph, graph_count)
    place, run = _find_ties(graph_start, row, keys)
    if len(place):
        rows = row[place]
        by_id = pc.sort_indices(take_strings(ids, rows)).to_numpy().astype(np.int64)
        row[place] = rows[by_id[np.argsort(run[by_id], kind="stable")]]
    return Nodes(graph_start, row)


def number_ids(nodes: Nodes, ids: Strings) -> np.ndarray:
    """Number the distinct ids of each graph, where several rows may share one.

    Returns:
        int32[nodes]: equal for rows that share graph and id, ascending by graph, then id, without gaps.
    """
    return _number_ids(nodes.graph_start, nodes.row, ids.offsets, ids.data)


@compiled
def _group(hashes):
    """Number the rows by hash; return the number of each row and the first row of each number."""
    n = len(hashes)
    graph = np.empty(n, np.int32)
    first_row = np.empty(n, np.int32)
    known = np.empty(n, np.uint64)
    slots = np.full(1024, np.int32(-1))
    mask = np.uint64(len(slots) - 1)
    count = 0
    for row in range(n):
        slot = hashes[row] & mask
        while slots[slot] >= 0 and known[slots[slot]] != hashes[row]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            known[count] = hashes[row]
            first_row[count] = row
            count += 1
        graph[row] = slots[slot]
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), np.int32(-1))
            mask = np.uint64(len(slots) - 1)
            for g in range(count):
                slot = known[g] & mask
                while slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & mask
                slots[slot] = g
    return graph, first_row[:count].copy()


@compiled
def _all_equal_to_first(graph, first_row, offsets, data, valid):
    for row in range(len(graph)):
        first = first_row[graph[row]]
        if valid[row] != valid[first] or not equal(
            data, offsets[row], offsets[row + 1], data, offsets[first], offsets[first + 1]
        ):
            return False
    return True


@compiled
def _common_prefix(offsets, data):
    """Measure the length of the prefix that all strings share, in bytes."""
    n = len(offsets) - 1
    if n == 0:
        return np.int64(0)
    first = offsets[0]
    shared = offsets[1] - first
    for row in range(1, n):
        at = offsets[row]
        shared = min(shared, offsets[row + 1] - at)
        k = 0
        while k < shared and data[at + k] == data[first + k]:
            k += 1
        shared = k
    return shared


@compiled
def _prefix_keys(offsets, data, skip):
    """Read eight bytes of each string behind the prefix as a big-endian integer, which sorts as they do."""
    n = len(offsets) - 1
    keys = np.empty(n, np.uint64)
    for row in range(n):
        at = offsets[row] + skip
        length = min(offsets[row + 1] - at, 8)
        value = np.uint64(0)
        for k in range(8):
            value <<= np.uint64(8)
            if k < length:
                value |= np.uint64(data[at + k])
        keys[row] = value
    return keys


@compiled
def counting_sort(order, graph, graph_count):
    """Group rows by graph and keep their order within each graph: a counting sort.

    Args:
        order: int[rows], each row once.
        graph: int32[rows], the sort key.
        graph_count: The number of graphs.

    Returns:
        int64[graphs + 1], offsets; int32[rows], the rows of each graph.
    """
    n = len(graph)
    start = np.zeros(graph_count + 1, np.int64)
    for row in range(n):
        start[graph[row] + 1] += 1
    for g in range(graph_count):
        start[g + 1] += start[g]
    fill = start[:-1].copy()
    rows = np.empty(n, np.int32)
    for i in range(n):
        row = order[i]
        g = graph[row]
        rows[fill[g]] = row
        fill[g] += 1
    return start, rows


@compiled
def _number_ids(graph_start, row, offsets, data):
    number = np.empty(len(row), np.int32)
    count = np.int32(-1)
    for g in range(len(graph_start) - 1):
        for node in range(graph_start[g], graph_start[g + 1]):
            at, before = row[node], row[node - 1]
            if node == graph_start[g] or not equal(
                data, offsets[at], offsets[at + 1], data, offsets[before], offsets[before + 1]
            ):
                count += 1
            number[node] = count
    return number


@compiled
def _find_ties(graph_start, row, keys):
    """List the nodes whose key occurs twice or more in their graph, and number each run of equal keys."""
    n = len(row)
    count = 0
    place = np.empty(n, np.int64)
    run = np.empty(n, np.int64)
    runs = 0
    for g in range(len(graph_start) - 1):
        end = graph_start[g + 1]
        node = graph_start[g]
        while node < end:
            stop = node + 1
            while stop < end and keys[row[stop]] == keys[row[node]]:
                stop += 1
            if stop - node > 1:
                for tied in range(node, stop):
                    place[count] = tied
                    run[count] = runs
                    count += 1
                runs += 1
            node = stop
    return place[:count].copy(), run[:count].copy()
