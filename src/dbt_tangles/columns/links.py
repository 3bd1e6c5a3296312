"""Edges between nodes: each listed id resolved to a node of the same graph by a hash join."""

from typing import NamedTuple

import numpy as np

from dbt_tangles.columns.arrays import sums
from dbt_tangles.columns.dense_ids import Nodes
from dbt_tangles.columns.strings import Lists, Strings, check_size, draw_keys, hash_strings, same
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Links(NamedTuple):
    """The edges between the nodes of many graphs.

    Attributes:
        start: int64[nodes + 1]; the edges of node n are start[n] to start[n + 1] - 1.
        previous: int32[edges]; the distinct candidates of its own graph that a candidate lists, in the order of the
            list. Roots and nodes that are not candidates have no edges.
        none_listed: bool[nodes]; a candidate, not a root, with an empty list.
        some_missing: bool[nodes]; a candidate, not a root, that lists an id that is not a candidate of its graph.
    """

    start: np.ndarray
    previous: np.ndarray
    none_listed: np.ndarray
    some_missing: np.ndarray


def link(nodes: Nodes, ids: Strings, previous: Lists, candidate: np.ndarray, root: np.ndarray) -> Links:
    """Resolve every listed id to a node and build the edges.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.
        previous: The list of each row; a null within a list counts as missing.
        candidate: bool[nodes]; other nodes have no edges and are not found.
        root: bool[nodes]; the list of a root is ignored.

    Returns:
        The edges.

    Raises:
        OverflowError: There are more than 2^31 - 1 listed ids.
    """
    return join_links(nodes, previous, candidate, root, look_up(nodes, ids, previous, candidate, root))


def join_links(nodes: Nodes, previous: Lists, candidate: np.ndarray, root: np.ndarray, found: np.ndarray) -> Links:
    """Build the edges as `link`, from `found` int32[items]: the node of each listed id, or -1."""
    is_reader = candidate & ~root
    start, item = distinct_items(nodes.row, previous.starts, is_reader, found)
    none_listed = is_reader & (np.diff(previous.starts) == 0)[nodes.row]
    some_missing = is_reader & (sums(found < 0, previous.starts) > 0)[nodes.row]
    return Links(start, found[item], none_listed, some_missing)


def look_up(nodes: Nodes, ids: Strings, previous: Lists, candidate: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Find the node of each listed id, with one small hash table per graph.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.
        previous: The list of each row.
        candidate: bool[nodes]; other nodes are not found, and their lists are ignored.
        root: bool[nodes]; the list of a root is ignored.

    Returns:
        int32[items], the node, or -1 without a match; of candidates that share an id, the first.

    Raises:
        OverflowError: There are more than 2^31 - 1 listed ids.
    """
    check_size(len(previous.items.valid))
    keys = draw_keys()
    hashes = hash_strings(ids, keys)[nodes.row], hash_strings(previous.items, keys)
    return _look_up(nodes, candidate, candidate & ~root, ids, previous, hashes)


@compiled
def _look_up(nodes, candidate, is_reader, ids, previous, hashes):
    """Find the node of each listed id; -1 without a match, and for the lists of other nodes than readers."""
    graph_start, row, items = nodes.graph_start, nodes.row, previous.items
    node_hash, item_hash = hashes
    largest = 0
    for g in range(len(graph_start) - 1):
        largest = max(largest, graph_start[g + 1] - graph_start[g])
    slots = np.empty(_table_size(largest), np.int32)
    found = np.full(len(item_hash), np.int32(-1))
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        table = slots[: _table_size(end - first)]
        table[:] = -1
        for node in range(first, end):
            if candidate[node]:
                slot = _slot(table, node_hash[node], node_hash, nodes, ids, ids, np.int64(row[node]))
                if table[slot] < 0:
                    table[slot] = node
        for node in range(first, end):
            if is_reader[node]:
                for item in range(previous.starts[row[node]], previous.starts[row[node] + 1]):
                    if items.valid[item]:
                        found[item] = table[_slot(table, item_hash[item], node_hash, nodes, ids, items, item)]
    return found


@inner
def _table_size(entries):
    """Return a power of two that is at least twice the number of entries."""
    size = 2
    while size < 2 * entries:
        size *= 2
    return size


@inner
def _slot(slots, key, node_hash, nodes, ids, strings, at):
    """Find the slot of the node with the id `strings[at]`, whose hash is `key`, or else an empty slot."""
    mask = np.uint64(len(slots) - 1)
    slot = key & mask
    while slots[slot] >= 0 and not (node_hash[slots[slot]] == key and same(ids, nodes.row[slots[slot]], strings, at)):
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def distinct_items(row, list_start, is_reader, found):
    """List the items of some nodes that are found, each found node once, in the order of the list.

    Args:
        row: int32[nodes], the row of each node.
        list_start: int64[rows + 1], into the items.
        is_reader: bool[nodes]; other nodes have no items.
        found: int32[items], the node of each listed id, or -1.

    Returns:
        int64[nodes + 1], offsets; int64[...], the items.
    """
    seen_by = np.full(len(row), np.int32(-1))
    start = np.zeros(len(row) + 1, np.int64)
    items = np.empty(len(found), np.int64)
    count = 0
    for node in range(len(row)):
        if is_reader[node]:
            for item in range(list_start[row[node]], list_start[row[node] + 1]):
                if found[item] >= 0 and seen_by[found[item]] != node:
                    seen_by[found[item]] = node
                    items[count] = item
                    count += 1
        start[node + 1] = count
    return start, items[:count].copy()
