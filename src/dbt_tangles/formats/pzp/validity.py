"""Validity of messages in feed tangles, independent of the order of arrival (pzp-db 1.0.4, ``validateTangle``).

The peer decides by its current knowledge: it may reject a message today and accept it tomorrow, and it keeps an
accepted message after deleting its ancestors. Here a message is *known* if it is in the log and either has no reject
reason or lacks only its `prev` messages; in the second case it is *held*. A log is thus judged as the peer's own log,
read back in any order: missing messages stay missing, and their successors stay. Ids are hashes, so links lead to older
messages and never form a cycle, and every message is decided after all messages it lists.

Whether a key belonged to the account can depend on messages of the account that the log lacks. A message that keeps
every other rule is then *undecided*, and so is one that follows undecided messages alone. Neither is valid, nor known
to its successors; its reason says that the log leaves the question open.

The kernels are iterative and linear in messages and links.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, scatter, sums
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import link
from dbt_tangles.algorithms.graph.strings import lists_of, strings_of
from dbt_tangles.algorithms.graph.topological_generations import (
    Candidates,
    children,
    member_depths,
)
from dbt_tangles.formats.pzp.rules import SELF, Reason
from dbt_tangles.kernel_runtime.compiled import compiled

VALIDITY_INPUT_SCHEMA = pa.schema(
    [
        ("root_id", pa.string()),
        ("message_id", pa.string()),
        ("is_moot", pa.bool_()),
        ("account", pa.string()),
        ("domain", pa.string()),
        ("depth", pa.int64()),
        ("prev", pa.list_(pa.string())),
        ("defect", pa.string()),
        ("reject_reason", pa.string()),
        ("is_key_authorised", pa.bool_()),
        ("awaited_ids", pa.list_(pa.string())),
    ]
)
VALIDITY_OUTPUT_SCHEMA = pa.schema(
    [
        ("is_valid", pa.bool_()),
        ("reject_reason", pa.string()),
        ("is_held", pa.bool_()),
    ]
)

_BY_RANK = {reason.rank: reason.value for reason in Reason}
_RANKS = {reason.value: reason.rank for reason in Reason}
# Defects that `read_tangle` finds while iterating over prev: the first of these and of the defects of the known prev
# counts.
_WALK_RANKS = (Reason.PREV_NOT_STRING.rank, Reason.NO_KNOWN_PREV.rank)
_TANGLE_RANKS = (Reason.BAD_PREV.rank, Reason.CYCLE.rank)
_PREV_NOT_LOWER = Reason.PREV_NOT_LOWER.rank
_NO_KNOWN_PREV = Reason.NO_KNOWN_PREV.rank
_DEPTH_GAP = Reason.DEPTH_GAP.rank
_UNKNOWN_ACCOUNT_TIPS = Reason.UNKNOWN_ACCOUNT_TIPS.rank
_UNDECIDED_PREV = Reason.UNDECIDED_PREV.rank
_NEVER = 127
# 32 bytes in base58.
_ID = "^[1-9A-HJ-NP-Za-km-z]{32,44}$"


def validity(table: pa.Table) -> pa.Table:
    """Decide the validity of the messages of many feed tangles.

    Args:
        table: One row per tangle and message that names its root, and one for the root itself, in any order, whole
            tangles only. A root that is missing or not a moot needs no row. Columns of `VALIDITY_INPUT_SCHEMA`:
            `root_id`, and `message_id`, unique within its tangle: of several lines with one id the one that
            `verify_batches` got furthest with (`reject_rank` 0, else the highest), then one with data;
            `is_moot` bool; `account`, `domain` string; `depth`, `prev`, `defect` as in its entry of `tangles`, ignored
            for the root; `reject_reason` as `verify_batches` gives it;
            `is_key_authorised` bool: whether its sigkey was the account's; null if the log has no root of the
            account (the check of keys is then skipped, as for an account "any", which has no keys), and while messages
            are awaited;
            `awaited_ids` list<string>: the awaited messages of the account; null or empty if complete.
            Further columns are ignored.

    Returns:
        One row per row of the input, in its order:
            `is_valid` bool, whether a peer with the known messages accepts the message;
            `reject_reason` string, the first reason in the peer's order, null for a valid message;
            `unknown_account_tips` and `undecided_prev` apply only if no known reason does;
            `is_held` bool: the reason is `no_known_prev`, all other rules are kept, and an entry of prev has the form
            of
            an id of a message outside the tangle. A peer that accepted the message and deleted its prev is in this
            state, while a fresh replica rejects it. The message is not valid, but belongs to the tangle and is known to
            its successors. The tangle therefore consists of the valid and the held messages.

    Raises:
        ValueError: A `message_id` is null.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    ids = strings_of(table["message_id"])
    if not ids.valid.all():
        raise ValueError("a message_id is null: give every message of a feed tangle an id")
    nodes = number_nodes(*group_rows(strings_of(table["root_id"])), ids)
    names_root = _equal(table["message_id"], table["root_id"])[nodes.row]
    every = np.ones(len(nodes.row), np.bool_)
    links = link(nodes, ids, lists_of(table["prev"]), every, names_root)
    level = member_depths(
        Candidates(nodes.graph_start, every, names_root, links),
        children(links.start, links.previous),
        False,
    )
    is_root, checks = _checks(table, nodes, names_root, level < 0)
    depth = table["depth"].cast(pa.int64()).fill_null(0).to_numpy()[nodes.row]
    verdicts = _judge_nodes(
        np.argsort(level, kind="stable"),
        links,
        _lists_missing_id(table["prev"], nodes.row, links.some_missing),
        np.where(is_root, 0, depth),
        _awaits(table["awaited_ids"])[nodes.row],
        checks,
    )
    codes, is_held = (scatter(verdict, nodes.row) for verdict in verdicts)
    reasons = pa.array([_BY_RANK.get(rank) for rank in range(_NEVER)], pa.string()).take(pa.array(codes))
    return pa.table([pa.array(codes == 0), reasons, pa.array(is_held)], schema=VALIDITY_OUTPUT_SCHEMA)


class _Checks(NamedTuple):
    """The first reason of each node in three stages, as ranks: int8[nodes], `_NEVER` without a reason."""

    early: np.ndarray  # Of the checks before the loop over prev; 0 for a root, which is valid
    walked: np.ndarray  # Of the loop over prev, independent of other messages
    late: np.ndarray  # Of the checks after it


def _checks(table: pa.Table, nodes: Nodes, names_root: np.ndarray, is_cyclic: np.ndarray) -> tuple[np.ndarray, _Checks]:
    """Find the reasons of each node that are independent of the verdicts on its prev.

    Args:
        table: As for `validity`.
        nodes: The numbered rows.
        names_root: bool[nodes], whether the message's own id is the root's.
        is_cyclic: bool[nodes], nodes on or behind a cycle.

    Returns:
        bool[nodes], the valid roots; and the reasons.
    """
    row, graph_count = nodes.row, len(nodes.graph_start) - 1
    is_moot = flags(table, "is_moot")[row]
    reject, defect = _ranks(table["reject_reason"])[row], _ranks(table["defect"])[row]
    graph_of = np.repeat(np.arange(graph_count), np.diff(nodes.graph_start))
    is_root = names_root & is_moot & (reject == _NEVER)
    root_row = np.full(graph_count, -1, np.int64)
    root_row[graph_of[is_root]] = row[is_root]
    of_root = root_row[graph_of]

    is_late = reject == Reason.BAD_SIGNATURE.rank
    is_of_tangle = (reject >= _TANGLE_RANKS[0]) & (reject <= _TANGLE_RANKS[1])
    is_walked = (defect >= _WALK_RANKS[0]) & (defect <= _WALK_RANKS[1])
    early = np.where(is_of_tangle | is_late, _NEVER, reject)
    early = np.minimum(early, np.where(is_walked, _NEVER, defect))
    has_other_root = np.zeros(graph_count, np.bool_)
    has_other_root[graph_of[names_root & ~is_moot & (reject == _NEVER)]] = True
    no_root = np.where(has_other_root[graph_of], Reason.NOT_A_FEED.rank, Reason.MISSING_ROOT.rank)
    early = np.minimum(early, np.where(of_root < 0, no_root, _NEVER))
    for fails, reason in (
        (_equal(table["account"], pa.scalar(SELF))[row], Reason.ACCOUNT_SELF),
        (~table["is_key_authorised"].fill_null(True).to_numpy()[row], Reason.UNAUTHORISED_KEY),
        (~_alike(table["domain"], row, of_root), Reason.OTHER_DOMAIN),
        (~_alike(table["account"], row, of_root), Reason.OTHER_ACCOUNT),
        (table["depth"].is_null().to_numpy()[row], Reason.BAD_DEPTH),
    ):
        early = np.minimum(early, np.where(fails, reason.rank, _NEVER))
    early = np.where(is_root, 0, np.where(names_root & ~is_root & (early == _NEVER), Reason.NOT_A_FEED.rank, early))
    early = np.where(is_cyclic, np.minimum(early, Reason.CYCLE.rank), early)
    walked, late = np.where(is_walked, defect, _NEVER), np.where(is_late, reject, _NEVER)
    return is_root, _Checks(*(ranks.astype(np.int8) for ranks in (early, walked, late)))


def _lists_missing_id(prev: pa.ChunkedArray | pa.Array, row: np.ndarray, some_missing: np.ndarray) -> np.ndarray:
    """Whether a node lists a missing id, and an id with the form of a message id."""
    places = np.flatnonzero(some_missing)
    may_miss = np.zeros(len(row), np.bool_)
    if len(places):
        lists = prev.take(pa.array(row[places]))
        ends = lists_of(lists).starts
        is_id = pc.match_substring_regex(pc.list_flatten(lists), _ID).fill_null(False).to_numpy()
        may_miss[places] = sums(is_id, ends) > 0
    return may_miss


def _awaits(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Whether a list has an entry."""
    return pc.greater(pc.list_value_length(column), 0).fill_null(False).to_numpy()


def _ranks(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Map each reason of a column to its rank; a code outside `Reason` counts as `not_a_message`."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = column.dictionary_encode()
    ranks = np.array([_RANKS.get(code.as_py(), Reason.NOT_A_MESSAGE.rank) for code in encoded.dictionary] + [_NEVER])
    return ranks[encoded.indices.fill_null(len(ranks) - 1).to_numpy(zero_copy_only=False)]


def _numbered(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Number the values of a column; null is -1."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _alike(column: pa.ChunkedArray | pa.Array, row: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether the values of two rows are equal and not null; a negative row has a null value."""
    numbers = _numbered(column)
    return (other >= 0) & (numbers[row] >= 0) & (numbers[row] == numbers[np.maximum(other, 0)])


def _equal(column: pa.ChunkedArray | pa.Array, other: pa.ChunkedArray | pa.Array | pa.Scalar) -> np.ndarray:
    return pc.equal(column, other).fill_null(False).to_numpy()


@compiled
def _judge_nodes(order, links, may_miss, depth, awaits, checks):
    """Decide each node after its prev: the rank of its first reason (0: valid), and whether it is held."""
    start, previous, some_missing = links.start, links.previous, links.some_missing
    early, walked, late = checks.early, checks.walked, checks.late
    n = len(order)
    codes = np.zeros(n, np.int8)
    held = np.zeros(n, np.bool_)
    for place in range(n):
        node = order[place]
        code = np.int8(0)
        if early[node] != _NEVER:
            codes[node] = early[node]
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
        is_signed = late[node] == _NEVER
        if deepest >= depth[node]:
            code = np.int8(_PREV_NOT_LOWER)
        elif walked[node] != _NEVER:
            code = walked[node]
        elif known_count == 0 and not may_miss[node] and not is_prev_undecided:
            code = np.int8(_NO_KNOWN_PREV)
        elif known_count == 0 and may_miss[node] and not (is_signed and awaits[node]):
            code = np.int8(_NO_KNOWN_PREV)
            held[node] = is_signed
        elif known_count == start[node + 1] - start[node] and not some_missing[node] and depth[node] != deepest + 1:
            code = np.int8(_DEPTH_GAP)
        elif not is_signed:
            code = late[node]
        elif awaits[node]:
            code = np.int8(_UNKNOWN_ACCOUNT_TIPS)
        elif known_count == 0:
            code = np.int8(_UNDECIDED_PREV)
        codes[node] = code
    return codes, held
