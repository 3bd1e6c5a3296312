"""Numbers the epochs of many private groups, and finds the adds and excludes of each.

An init is an epoch if it is the root of its group, or if all its previous epochs are epochs of the group.

Source: seed 000/001, "Epoch tangle"; private group specification, 4.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.dense_ids import group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import link, look_up
from dbt_tangles.algorithms.graph.orders import Dag, positions, renumber
from dbt_tangles.algorithms.graph.strings import Lists, lists_of, strings_of
from dbt_tangles.algorithms.graph.topological_generations import (
    Candidates,
    children,
    member_depths,
)
from dbt_tangles.formats.ssb.group_claims import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT

KEY_BYTES = 32
_KINDS = (ROOT_INIT, EPOCH_INIT, ADD, EXCLUDE)
_ROOT_INIT, _EPOCH_INIT, _ADD, _EXCLUDE = range(len(_KINDS))


class Epochs(NamedTuple):
    """The epochs of many groups, and the statements about them."""

    dag: Dag  # The epochs by group, depth and id, and their edges; `dag.node` is unused
    row: np.ndarray  # int32[epochs], the input row of each epoch
    depth: np.ndarray  # int32[epochs], the longest path from the root
    key_order: np.ndarray  # int64[epochs], distinct; ascending by key, then id, within each group
    statement_row: np.ndarray  # int32[statements], by group, then id
    statement_epoch: np.ndarray  # int32[statements], the epoch that each statement names
    is_add: np.ndarray  # bool[rows]


def number_epochs(table: pa.Table) -> Epochs:
    """Find the epochs and the statements about them.

    Args:
        table: As for `reduce_groups`.

    Returns:
        Both. Inits outside the epoch tangle are left out, as are statements about them.

    Raises:
        ValueError: See `reduce_groups`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    kind = _kinds(table)
    is_init = kind <= _EPOCH_INIT
    inits = table.filter(pa.array(is_init))
    if not pc.all(pc.equal(inits["epoch_id"], inits["message_id"]).fill_null(False), min_count=0).as_py():
        raise ValueError("the epoch_id of an init is not its message_id; set both to the id of the init")
    ids = strings_of(table["message_id"])
    if not ids.valid.all():
        raise ValueError("a row of the group messages has a null message_id; fill it in")
    group, group_count = group_rows(strings_of(table["group_id"]))
    nodes = number_nodes(group, group_count, ids)
    numbers = number_ids(nodes, ids)
    if (numbers[1:] == numbers[:-1]).any():
        raise ValueError("a group has a message twice; pass one row per group and message")

    # The epoch tangle. Statements are nodes too, but not candidates for it.
    is_root = (kind == _ROOT_INIT) & pc.equal(table["group_id"], table["message_id"]).fill_null(False).to_numpy()
    candidate, root = is_init[nodes.row], is_root[nodes.row]
    links = link(nodes, ids, lists_of(table["previous_epochs"]), candidate, root)
    candidates = Candidates(nodes.graph_start, candidate, root, links)
    depth = member_depths(candidates, children(links.start, links.previous), True)
    dag = renumber(nodes.graph_start, links.start, links.previous, positions(nodes.graph_start, depth))
    row = nodes.row[dag.node]

    # The epoch of each statement, as a list of one id.
    named = Lists(np.arange(len(table) + 1), strings_of(table["epoch_id"]))
    found = look_up(nodes, ids, named, np.ones(len(table), np.bool_), candidate)
    number = np.full(len(table) + 1, np.int32(-1))  # The last entry is for unknown ids.
    number[dag.node] = np.arange(len(row))
    epoch = number[found]
    statement_row = nodes.row[epoch[nodes.row] >= 0]

    words = _key_words(inits["epoch_key"])[(np.cumsum(is_init) - 1)[row]]
    key_order = np.empty(len(row), np.int64)
    key_order[np.lexsort((dag.node, *words.T[::-1]))] = np.arange(len(row))
    return Epochs(dag, row, depth[dag.node], key_order, statement_row, epoch[statement_row], kind == _ADD)


def _kinds(table: pa.Table) -> np.ndarray:
    kinds = pc.index_in(table["kind"], pa.array(_KINDS, table["kind"].type))
    if kinds.null_count:
        raise ValueError("a kind is null or unknown; use one of " + ", ".join(_KINDS))
    return kinds.to_numpy()


def _key_words(keys: pa.ChunkedArray) -> np.ndarray:
    """Read keys as big-endian integers, which compare like the bytes: uint64[keys, 4]."""
    lengths = pc.binary_length(keys)
    if keys.null_count or not pc.all(pc.equal(lengths, KEY_BYTES), min_count=0).as_py():
        raise ValueError(f"the epoch_key of an init is not of {KEY_BYTES} bytes; pass the decoded key")
    parts = [np.empty(0, np.uint8)]
    for chunk in keys.chunks:
        fixed = chunk.cast(pa.binary(KEY_BYTES))
        data = np.frombuffer(fixed.buffers()[1], np.uint8)
        parts.append(data[fixed.offset * KEY_BYTES : (fixed.offset + len(fixed)) * KEY_BYTES])
    return np.concatenate(parts).view(">u8").astype(np.uint64).reshape(-1, KEY_BYTES // 8)
