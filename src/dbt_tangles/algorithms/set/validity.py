"""Validity of messages in feed tangles, independent of the order of arrival (pzp-db 1.0.4, ``validateTangle``).

The peer decides by its current knowledge: it may reject a message today and accept it tomorrow, and it keeps an
accepted message after deleting its ancestors. Here a message is *known* if it is in the log and either has no reject
reason or lacks only its `prev` messages; in the second case it is *held*. A log is thus judged as the peer's own log,
read back in any order: missing messages stay missing, and their successors stay. A held message lists an id of a
message that the log lacks: a peer that accepted it and deleted its prev is in this state, while a fresh replica rejects
it. It is not valid, but belongs to the tangle, which consists of the valid and the held messages.

Ids are hashes, so links lead to older messages and never form a cycle, and every message is decided after all messages
it lists.

Whether a key belonged to the account can depend on messages of the account that the log lacks. A message that keeps
every other rule is then *undecided*, and so is one that follows undecided messages alone. Neither is valid, nor known
to its successors; its reason says that the log leaves the question open.

The kernels are iterative and linear in messages and links.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.topological_generations import Candidates, children, member_depths
from dbt_tangles.columns.arrays import flags, scatter, sums
from dbt_tangles.columns.dense_ids import Nodes, group_rows, number_rows
from dbt_tangles.columns.links import link
from dbt_tangles.columns.strings import lists_of, strings_of
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.reasons import PzpReason as Reason

_RANKS = {reason.value: reason.rank for reason in Reason}
_PREV_NOT_LOWER, _NO_KNOWN_PREV = Reason.PREV_NOT_LOWER.rank, Reason.NO_KNOWN_PREV.rank
_DEPTH_GAP = Reason.DEPTH_GAP.rank
_UNKNOWN_ACCOUNT_TIPS, _UNDECIDED_PREV = Reason.UNKNOWN_ACCOUNT_TIPS.rank, Reason.UNDECIDED_PREV.rank
# The account of messages that any key may sign.
_SELF = "self"
# Without a reason.
_NEVER = 127
# 32 bytes in base58.
_ID = "^[1-9A-HJ-NP-Za-km-z]{32,44}$"


class _Checks(NamedTuple):
    """The first reason of each node in three stages, as ranks: int8[nodes], `_NEVER` without a reason."""

    early: np.ndarray  # Of the checks before the loop over prev; 0 for a root, which is valid
    walked: np.ndarray  # Of the loop over prev, independent of other messages
    late: np.ndarray  # Of the checks after it


def validity(table: pa.Table) -> pa.Table:
    """Decide the validity of the messages of many feed tangles.

    Args:
        table: Rows of `schemas.SetEntry` in any order, whole tangles only; `set_id` names the root.

    Returns:
        One row per row of the input, in its order: `is_valid`, `reject_reason` (the first in the peer's order) and
        `is_held` of `schemas.SetMessage`.

    Raises:
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    nodes, ids = number_rows(table, ["set_id"], "message_id")
    names_root = _equal(table["message_id"], table["set_id"])[nodes.row]
    every = np.ones(len(nodes.row), np.bool_)
    links = link(nodes, ids, lists_of(table["prev"]), every, names_root)
    candidates = Candidates(nodes.graph_start, every, names_root, links)
    level = member_depths(candidates, children(links.start, links.previous), False)
    checks = _check_alone(table, nodes, names_root, level < 0)
    depth = table["depth"].cast(pa.int64()).fill_null(0).to_numpy()[nodes.row]
    codes, is_held = _judge_nodes(
        np.argsort(level, kind="stable"),
        links,
        _lists_missing_id(table["prev"], nodes.row, links.some_missing),
        np.where(checks.early == 0, 0, depth),
        pc.greater(pc.list_value_length(table["awaited_ids"]), 0).fill_null(False).to_numpy()[nodes.row],
        checks,
    )
    codes = scatter(codes, nodes.row)
    names = pa.array([None, *sorted(_RANKS, key=_RANKS.__getitem__)])
    reasons = names.take(pa.array(codes))
    return pa.table({"is_valid": codes == 0, "reject_reason": reasons, "is_held": scatter(is_held, nodes.row)})


def _check_alone(table: pa.Table, nodes: Nodes, names_root: np.ndarray, is_cyclic: np.ndarray) -> _Checks:
    """Find the reasons of each node that are independent of the verdicts on its prev.

    Args:
        table: As for `validity`.
        nodes: The numbered rows.
        names_root: bool[nodes], whether the message's own id is the root's.
        is_cyclic: bool[nodes], nodes on or behind a cycle.
    """
    row = nodes.row
    is_moot = flags(table, "is_moot")[row]
    reject, defect = _ranks(table["reject_reason"])[row], _ranks(table["defect"])[row]
    is_root = names_root & is_moot & (reject == _NEVER)
    # The root of each node's tangle, or -1.
    graph_of = np.repeat(np.arange(len(nodes.graph_start) - 1), np.diff(nodes.graph_start))
    root_of = np.full(len(nodes.graph_start) - 1, -1)
    root_of[graph_of[is_root]] = np.flatnonzero(is_root)
    root = root_of[graph_of]
    has_other_root = np.zeros(len(root_of), np.bool_)
    has_other_root[graph_of[names_root & ~is_moot & (reject == _NEVER)]] = True
    no_feed = has_other_root[graph_of]

    # `read_tangle` finds these while it iterates over prev: the first of them and of the defects of known prev counts.
    is_walked = (defect >= Reason.PREV_NOT_STRING.rank) & (defect <= _NO_KNOWN_PREV)
    is_late = reject == Reason.BAD_SIGNATURE.rank
    of_tangle = (reject >= Reason.BAD_PREV.rank) & (reject <= Reason.CYCLE.rank)
    early = np.minimum(np.where(of_tangle | is_late, _NEVER, reject), np.where(is_walked, _NEVER, defect))
    for fails, reason in (
        ((root < 0) & ~no_feed, Reason.MISSING_ROOT),
        ((root < 0) & no_feed, Reason.NOT_A_FEED),
        (_equal(table["account"], pa.scalar(_SELF))[row], Reason.ACCOUNT_SELF),
        (~table["is_key_authorised"].fill_null(True).to_numpy()[row], Reason.UNAUTHORISED_KEY),
        (~_are_alike(table["domain"], row, root), Reason.OTHER_DOMAIN),
        (~_are_alike(table["account"], row, root), Reason.OTHER_ACCOUNT),
        (table["depth"].is_null().to_numpy()[row], Reason.BAD_DEPTH),
    ):
        early[fails] = np.minimum(early[fails], reason.rank)
    early[names_root & (early == _NEVER)] = Reason.NOT_A_FEED.rank
    early[is_root] = 0
    early[is_cyclic] = np.minimum(early[is_cyclic], Reason.CYCLE.rank)
    walked, late = np.where(is_walked, defect, _NEVER), np.where(is_late, reject, _NEVER)
    return _Checks(*(ranks.astype(np.int8) for ranks in (early, walked, late)))


def _lists_missing_id(prev: pa.ChunkedArray, row: np.ndarray, some_missing: np.ndarray) -> np.ndarray:
    """Whether a node lists a missing id, and an id with the form of a message id."""
    places = np.flatnonzero(some_missing)
    lists = prev.take(pa.array(row[places]))
    is_id = pc.match_substring_regex(pc.list_flatten(lists), _ID).fill_null(False).to_numpy()
    may_miss = np.zeros(len(row), np.bool_)
    may_miss[places] = sums(is_id, lists_of(lists).starts) > 0
    return may_miss


def _ranks(column: pa.ChunkedArray) -> np.ndarray:
    """Map each reason of a column to its rank; a code outside `Reason` counts as `not_a_message`."""
    encoded = column.combine_chunks().dictionary_encode()
    ranks = np.array([_RANKS.get(code.as_py(), Reason.NOT_A_MESSAGE.rank) for code in encoded.dictionary] + [_NEVER])
    return ranks[encoded.indices.fill_null(len(ranks) - 1).to_numpy(zero_copy_only=False)]


def _are_alike(column: pa.ChunkedArray, row: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether the values of two nodes are equal and not null; a negative node has a null value."""
    strings = strings_of(column)
    value = group_rows(strings)[0][row]
    return (other >= 0) & strings.valid[row] & (value == value[other])


def _equal(column: pa.ChunkedArray, other: pa.ChunkedArray | pa.Scalar) -> np.ndarray:
    return pc.equal(column, other).fill_null(False).to_numpy()


@compiled
def _judge_nodes(order, links, may_miss, depth, awaits, checks):
    """Decide each node after its prev: the rank of its first reason (0: valid), and whether it is held."""
    start, previous = links.start, links.previous
    codes = checks.early.copy()
    held = np.zeros(len(order), np.bool_)
    for node in order:
        if codes[node] != _NEVER:
            continue
        known_count = 0
        is_prev_undecided = False
        deepest = np.int64(-1)
        for e in range(start[node], start[node + 1]):
            p = previous[e]
            if codes[p] == 0 or held[p]:
                known_count += 1
                deepest = max(deepest, depth[p])
            elif codes[p] == _UNKNOWN_ACCOUNT_TIPS or codes[p] == _UNDECIDED_PREV:
                is_prev_undecided = True
        is_signed = checks.late[node] == _NEVER
        is_complete = known_count == start[node + 1] - start[node] and not links.some_missing[node]
        if deepest >= depth[node]:
            code = _PREV_NOT_LOWER
        elif checks.walked[node] != _NEVER:
            code = checks.walked[node]
        elif known_count == 0 and not may_miss[node] and not is_prev_undecided:
            code = _NO_KNOWN_PREV
        elif known_count == 0 and may_miss[node] and not (is_signed and awaits[node]):
            code = _NO_KNOWN_PREV
            held[node] = is_signed
        elif is_complete and depth[node] != deepest + 1:
            code = _DEPTH_GAP
        elif not is_signed:
            code = checks.late[node]
        elif awaits[node]:
            code = _UNKNOWN_ACCOUNT_TIPS
        elif known_count == 0:
            code = _UNDECIDED_PREV
        else:
            code = 0
        codes[node] = code
    return codes, held
