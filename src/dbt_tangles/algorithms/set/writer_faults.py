"""Writer faults of pzp sets: messages that supersede too little or too much, by protospec.md, "Msg content".

The rules, in the order of `writer_rules.RULES`:

* `must`: a message that adds or deletes an item supersedes the deepest message on that item that its writer knew. Where
  several of them are equally deep, one is enough.
* `should`: a message that adds an item supersedes all deepest deletions that its writer knew, of any item. A deletion
  that a known message already supersedes is exempt.
* `supersedes_standing_item`: a message does not supersede the message that keeps an item in the set, unless it adds or
  deletes that item itself. This rule is the project's: pruning removes superseded messages, so the item would be lost.
* `lipmaa_left_out`: a message links back to the messages at its lipmaa depth; `reachability` finds these faults.
* `supersedes_later_message`: a message supersedes only messages before it in the set's order. Peers ignore other
  entries, so a later message stays an item root, and by the document it is not one.

A writer knew all ancestors of its message, through messages of every kind.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.arrays import runs, starts
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.reachability import Reachability
from dbt_tangles.algorithms.set.set_arrays import SetEntries, SetTangles
from dbt_tangles.algorithms.set.writer_rules import BACKLINK, FIELDS, LATER, check_writer_rules

#: The item code of a missing backlink, which concerns no item.
NO_ITEM = -1


class Faults(NamedTuple):
    """Writer faults, ordered by message, then rule.

    The faults of one message and rule are ordered by the message's own list of items, `add` before `del` (`must`); or
    by the first omitted message and its items (`should`, `supersedes_standing_item`).

    Attributes:
        message: int32[faults].
        code: int32[faults], the item, or `NO_ITEM`.
        rule: int8[faults], into `writer_rules.RULES`.
        left_start: int64[faults + 1], into `left_out`.
        left_out: int32[...], ascending within each fault: the messages that should have been superseded (for `must`,
            one of them was enough), the message that should not have been superseded, or the messages to link back to.
        is_checked: bool[sets]; False where a set exceeds a bound, and then none of its faults are listed.
    """

    message: np.ndarray
    code: np.ndarray
    rule: np.ndarray
    left_start: np.ndarray
    left_out: np.ndarray
    is_checked: np.ndarray


def writer_faults(tangles: SetTangles, entries: SetEntries, room: int = CLOCK_ENTRIES_PER_SET) -> Faults:
    """Find the faults by the rules on `supersedes`, each set independently of the others.

    Args:
        tangles: The sets.
        entries: Their data. Messages without data still carry links. A superseded message that is not earlier is
            ignored.
        room: The bound for one set: on the entries of its clocks, of its pending deletions and of `left_out`; its steps
            are bounded by `STEPS_PER_ENTRY` times as many.

    Returns:
        The faults, and which sets were checked.
    """
    rows, left_out, is_checked = check_writer_rules(tangles, entries, room)
    message, code, rule, left_end = rows.reshape(-1, FIELDS).T
    return Faults(
        message.astype(np.int32),
        code.astype(np.int32),
        rule.astype(np.int8),
        np.concatenate([np.zeros(1, np.int64), left_end]),
        left_out,
        is_checked,
    )


def with_backlinks(faults: Faults, found: Reachability, set_of: np.ndarray) -> Faults:
    """Merge the missing backlinks into the other faults.

    Args:
        faults: The result of `writer_faults`.
        found: The result of `find_reachability` for the same sets.
        set_of: int32[messages].

    Returns:
        The faults of the sets that both calls checked.
    """
    is_checked = faults.is_checked & found.is_checked
    return _merge(
        faults._replace(is_checked=is_checked), BACKLINK, found.fault, found.left_start, found.left_out, set_of
    )


def with_later(
    faults: Faults, is_item_root: np.ndarray, list_start: np.ndarray, superseded: np.ndarray, set_of: np.ndarray
) -> Faults:
    """Merge the item roots that an earlier message supersedes into the other faults.

    Args:
        faults: Faults of the same sets.
        is_item_root: bool[messages], see `live_items.item_roots`.
        list_start: int64[messages + 1], into `superseded`.
        superseded: int32[...], the message that each entry of a message with data names, or -1.
        set_of: int32[messages].
    """
    message, later = superseding_pairs(list_start, superseded)
    is_left = (later > message) & is_item_root[later]
    message, later = message[is_left], later[is_left]
    at, count = np.unique(message, return_counts=True)
    return _merge(faults, LATER, at.astype(np.int32), starts(count), later.astype(np.int32), set_of)


def superseding_pairs(list_start: np.ndarray, superseded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List each message with each other message that it supersedes, ascending: int64[pairs], int64[pairs]."""
    message = np.repeat(np.arange(len(list_start) - 1), np.diff(list_start))
    is_pair = (superseded >= 0) & (superseded != message)
    pairs = np.unique(np.stack([message[is_pair], superseded[is_pair]], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _merge(
    faults: Faults, rule: int, message: np.ndarray, left_start: np.ndarray, left_out: np.ndarray, set_of: np.ndarray
) -> Faults:
    """Merge faults by one more rule, which concern no item; those of sets that are not checked are left out."""
    more = len(message)
    messages = np.concatenate([faults.message, message])
    code = np.concatenate([faults.code, np.full(more, NO_ITEM, np.int32)])
    rules = np.concatenate([faults.rule, np.full(more, rule, np.int8)])
    ends = np.concatenate([faults.left_start, faults.left_start[-1] + left_start[1:]])
    # A stable sort keeps the faults of one message in the order of the rules.
    order = np.argsort(messages, kind="stable")
    order = order[faults.is_checked[set_of[messages[order]]]]
    merged_start, place = runs(ends, order)
    merged = np.concatenate([faults.left_out, left_out])[place]
    return Faults(messages[order], code[order], rules[order], merged_start, merged, faults.is_checked)
