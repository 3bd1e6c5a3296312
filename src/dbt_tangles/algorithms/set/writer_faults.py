"""Writer faults of pzp sets: messages that supersede too little or too much, by protospec.md, "Msg content".

The rules, in the order of `writer_rules.RULES`:

* `must`: a message that adds or deletes an item supersedes the deepest message on that item that its writer knew. Where
  several of them are equally deep, one is enough.
* `should`: a message that adds an item supersedes all deepest deletions that its writer knew, of any item. A deletion
  that a known message already supersedes is exempt.
* `supersedes_standing_item`: a message does not supersede the message that keeps an item in the set, unless it adds or
  deletes that item itself. This rule is the project's: pruning removes superseded messages, so the item would be lost.
* `lipmaa_left_out`: a message links back to the messages at its lipmaa depth; `reachability` finds these faults.

A writer knew all ancestors of its message, through messages of every kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.arrays import runs
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.reachability import Reachability
from dbt_tangles.algorithms.set.set_arrays import SetEntries, SetTangles
from dbt_tangles.algorithms.set.writer_rules import BACKLINK, FIELDS, check_writer_rules

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
    message = np.concatenate([faults.message, found.fault])
    more = len(found.fault)
    code = np.concatenate([faults.code, np.full(more, NO_ITEM, np.int32)])
    rule = np.concatenate([faults.rule, np.full(more, BACKLINK, np.int8)])
    ends = np.concatenate([faults.left_start, faults.left_start[-1] + found.left_start[1:]])
    # A stable sort keeps the faults of one message in the order of the rules.
    order = np.argsort(message, kind="stable")
    order = order[is_checked[set_of[message[order]]]]
    left_start, place = runs(ends, order)
    left_out = np.concatenate([faults.left_out, found.left_out])[place]
    return Faults(message[order], code[order], rule[order], left_start, left_out, is_checked)
