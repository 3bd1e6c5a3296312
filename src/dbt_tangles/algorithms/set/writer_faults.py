"""What writers left out of the messages they supersede.

A writer who adds or deletes an item supersedes the deepest message on that item that it knows of (MUST), and one who
adds anything supersedes the deepest deletions that it knows of, of whatever items (SHOULD). What a writer knew when
it wrote is what its message follows, through messages of all kinds.

Where several messages on an item are equally deep, one of them is enough for the first rule; the second asks for all
of them that delete. A deletion that a known message supersedes already is done with.

What is superseded may be pruned, so who supersedes the message that an item stands on, and neither adds the item again
nor deletes it, gives the item away. The document does not say so: `supersedes` names messages, and its rules are about
items. (That a message lists no backlink is found in `known`.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.arrays import runs
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.item_touches import Touches
from dbt_tangles.algorithms.set.reachability import Reachability
from dbt_tangles.algorithms.set.writer_rules import BACKLINK, FIELDS, check_writer_rules

#: In place of an item's code: a backlink is of none.
NO_ITEM = -1


class Faults(NamedTuple):
    """What `writer_faults` finds.

    The faults are in the order of their messages, then rules. Those of one message and rule are in the order in which
    the message (MUST), the first message left out and then the next (SHOULD), or the message superseded first and then
    the next (STANDING) names the items: `add` before `del`.

    Attributes:
        message: int32[faults].
        code: int32[faults], the item, or `NO_ITEM`.
        rule: int8[faults], into `check_writer_rules.RULES`.
        left_start: int64[faults + 1], into `left_out`.
        left_out: int32[...], the messages that should have been superseded, ascending within each fault. For MUST, one
            of them would have been enough; for STANDING, the message that should not; for BACKLINK, those to list.
        is_checked: bool[sets]; False where a set goes beyond some bound, and no faults of it are listed.
    """

    message: np.ndarray
    code: np.ndarray
    rule: np.ndarray
    left_start: np.ndarray
    left_out: np.ndarray
    is_checked: np.ndarray


def writer_faults(
    set_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    depth: np.ndarray,
    is_entry: np.ndarray,
    touches: Touches,
    list_start: np.ndarray,
    superseded: np.ndarray,
    room: int = CLOCK_ENTRIES_PER_SET,
) -> Faults:
    """Find the messages that do not supersede what they have to, or ought to.

    Each set is looked at for itself: neither its faults nor whether it is checked depend on the others.

    Args:
        set_start: int64[sets + 1], into the messages.
        start: int64[messages + 1], into `previous`.
        previous: int32[edges], earlier messages.
        depth: int64[messages]; never falls within a set.
        is_entry: bool[messages]; the others touch and supersede nothing, but links lead through them.
        touches: What messages add and delete.
        list_start: int64[messages + 1], into `superseded`.
        superseded: int32[...], the message each entry names, or -1. What is not earlier counts for nothing.
        room: For each set, the most entries there may be in its clocks, in its lists of open deletions, and in
            `left_out`; and a sixteenth of the steps it may take.

    Returns:
        The faults, and which sets were checked.
    """
    rows, left_out, is_checked = check_writer_rules(
        set_start, start, previous, depth, is_entry, touches, list_start, superseded, room
    )
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
    """Put the messages that leave a backlink out among the other faults.

    Args:
        faults: What `writer_faults` found.
        found: What `known` found of the same sets.
        set_of: int32[messages].

    Returns:
        The faults of sets of which neither went beyond its bounds.
    """
    is_checked = faults.is_checked & found.is_checked
    message = np.concatenate([faults.message, found.fault])
    more = len(found.fault)
    code = np.concatenate([faults.code, np.full(more, NO_ITEM, np.int32)])
    rule = np.concatenate([faults.rule, np.full(more, BACKLINK, np.int8)])
    ends = np.concatenate([faults.left_start, faults.left_start[-1] + found.left_start[1:]])
    # Stable, so that of one message they stay in the order of the rules.
    order = np.argsort(message, kind="stable")
    order = order[is_checked[set_of[message[order]]]]
    left_start, place = runs(ends, order)
    left_out = np.concatenate([faults.left_out, found.left_out])[place]
    return Faults(message[order], code[order], rule[order], left_start, left_out, is_checked)
