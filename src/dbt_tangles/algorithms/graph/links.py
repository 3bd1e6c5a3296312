"""Edges between nodes: each listed id resolved to a node of the same graph by a hash join."""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.dense_ids import Nodes
from dbt_tangles.algorithms.graph.strings import Lists, Strings, check_size, draw_keys, equal, hash_strings
from dbt_tangles.kernel_runtime.compiled import compiled

# Number of ids compared at a time; it bounds the memory for their offsets.
_PIECE = 2**16


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


class _HashedLists(NamedTuple):
    """The list of each node, hashed."""

    start: np.ndarray  # int64[nodes], start of each list in `item_hash`
    end: np.ndarray  # int64[nodes]
    item_hash: np.ndarray  # uint64[items]


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
    return Links(*_join(candidate, root, previous.starts[nodes.row], previous.starts[nodes.row + 1], found))


def look_up(nodes: Nodes, ids: Strings, previous: Lists, candidate: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Find the node of each listed id.

    The kernel fills one small hash table per graph and joins by hash. Afterwards the bytes of each match are compared,
    in the order in which they lie in memory.

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
    starts, items = previous
    list_start, list_end = starts[nodes.row], starts[nodes.row + 1]
    while True:
        keys = draw_keys()
        hashes = hash_strings(ids, keys)[nodes.row]
        lists = _HashedLists(list_start, list_end, hash_strings(items, keys))
        found = _look_up(nodes, candidate, root, ids, hashes, lists)
        found[~items.valid] = -1
        if _verify_matches(found, nodes, ids, items):
            return found


def _verify_matches(found: np.ndarray, nodes: Nodes, ids: Strings, items: Strings) -> bool:
    """Compare each match with the listed id, byte by byte, in pieces of bounded size."""
    for first in range(0, len(found), _PIECE):
        part = found[first : first + _PIECE]
        # Gathering the offsets before reading the bytes lets the processor load many of them at once.
        at = nodes.row[part]
        offsets = items.offsets[first : first + len(part) + 1]
        if not _all_equal(part, ids.offsets[at], ids.offsets[at + 1], ids.data, offsets, items.data):
            return False
    return True


@compiled
def _look_up(nodes, candidate, root, ids, hashes, lists):
    """Find the node of each listed id by hash; -1 without a match, and for lists that are ignored."""
    graph_start, row, id_offsets, id_data = nodes.graph_start, nodes.row, ids.offsets, ids.data
    list_start, list_end, item_hashes = lists.start, lists.end, lists.item_hash
    largest = 0
    for g in range(len(graph_start) - 1):
        largest = max(largest, graph_start[g + 1] - graph_start[g])
    size = 2
    while size < 2 * largest:
        size *= 2
    slots = np.empty(size, np.int32)
    found = np.full(len(item_hashes), np.int32(-1))
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        size = 2
        while size < 2 * (end - first):
            size *= 2
        mask = np.uint64(size - 1)
        slots[:size] = -1
        for node in range(first, end):
            if not candidate[node]:
                continue
            slot = hashes[node] & mask
            while slots[slot] >= 0:
                if hashes[slots[slot]] == hashes[node]:
                    at, other = row[node], row[slots[slot]]
                    if equal(
                        id_data, id_offsets[at], id_offsets[at + 1], id_data, id_offsets[other], id_offsets[other + 1]
                    ):
                        break
                slot = (slot + np.uint64(1)) & mask
            if slots[slot] < 0:
                slots[slot] = node
        for node in range(first, end):
            if not candidate[node] or root[node]:
                continue
            for item in range(list_start[node], list_end[node]):
                slot = item_hashes[item] & mask
                while slots[slot] >= 0 and hashes[slots[slot]] != item_hashes[item]:
                    slot = (slot + np.uint64(1)) & mask
                found[item] = slots[slot]
    return found


@compiled
def _all_equal(found, id_at, id_end, id_data, item_offsets, item_data):
    """Compare each match with the listed id, byte by byte."""
    for item in range(len(found)):
        if found[item] >= 0 and not equal(
            id_data, id_at[item], id_end[item], item_data, item_offsets[item], item_offsets[item + 1]
        ):
            return False
    return True


@compiled
def _join(candidate, root, list_start, list_end, found):
    n = len(candidate)
    seen_by = np.full(n, np.int32(-1))
    start = np.zeros(n + 1, np.int64)
    previous = np.empty(len(found), np.int32)
    none_listed = np.zeros(n, np.bool_)
    some_missing = np.zeros(n, np.bool_)
    count = 0
    for node in range(n):
        if candidate[node] and not root[node]:
            none_listed[node] = list_start[node] == list_end[node]
            for item in range(list_start[node], list_end[node]):
                p = found[item]
                if p < 0:
                    some_missing[node] = True
                elif seen_by[p] != node:
                    seen_by[p] = node
                    previous[count] = p
                    count += 1
        start[node + 1] = count
    return start, previous[:count].copy(), none_listed, some_missing
