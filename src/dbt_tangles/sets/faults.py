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

from dbt_tangles.compiled import compiled
from dbt_tangles.graph.arrays import runs
from dbt_tangles.sets.cover import ROOM, STEPS, cover
from dbt_tangles.sets.known import Known
from dbt_tangles.sets.touched import Touches
from dbt_tangles.structures.sorting import merge_sort
from dbt_tangles.structures.space import with_space

RULES = ("must", "should", "supersedes_standing_item", "lipmaa_left_out")
MUST, SHOULD, STANDING, BACKLINK = range(len(RULES))
#: In place of an item's code: a backlink is of none.
NO_ITEM = -1
# Message, item, rule, and where the messages left out end.
FIELDS = 4


class Faults(NamedTuple):
    """What `writer_faults` finds.

    The faults are in the order of their messages, then rules. Those of one message and rule are in the order in which
    the message (MUST), the first message left out and then the next (SHOULD), or the message superseded first and then
    the next (STANDING) names the items: `add` before `del`.

    Attributes:
        message: int32[faults].
        code: int32[faults], the item, or `NO_ITEM`.
        rule: int8[faults], into `RULES`.
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
    room: int = ROOM,
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
    rows, left_out, is_checked = _faults(
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


def with_backlinks(faults: Faults, found: Known, set_of: np.ndarray) -> Faults:
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


@compiled
def _with_fault(rows, row_count, message, code, rule, left_end):
    """Put a fault behind the others."""
    at = FIELDS * row_count
    rows = with_space(rows, at, FIELDS)
    rows[at] = message
    rows[at + 1] = code
    rows[at + 2] = rule
    rows[at + 3] = left_end
    return rows


@compiled
def _faults(set_start, start, previous, depth, is_entry, touches, list_start, superseded, room):
    """Go through the messages of each set in order.

    With each goes a list of the open deletions that whoever knows it has to reckon with: those it knows or makes, that
    nothing known supersedes, and on whose items nothing known is deeper. A message with one previous finds them in the
    list of that one. If it just adds some of its own, the list is prolonged where it lies if it is the last, for what
    was there remains the list of the previous. At a merge, each deletion that is open for some previous is held against
    the messages that supersede it and the later ones on its item. When there is no space left, lists that nobody needs
    any more make way.

    A deletion is here the number of a touch, which is a message and an item; they count in the order of the messages,
    and the lists ascend.

    Returns:
        The faults, `FIELDS` int64 each, the messages left out, int32[...], and which sets were checked, bool[sets].
    """
    add_start, added, del_start, deleted, code_count = touches
    sets = len(set_start) - 1
    limit = STEPS * room
    is_checked = np.ones(sets, np.bool_)
    rows = np.empty(64 * FIELDS, np.int64)
    row_count = 0
    left_out = np.empty(64, np.int32)
    left = 0

    # What one set needs, for the largest.
    most = 0
    most_touches = 0
    most_names = 0
    for s in range(sets):
        touch_count = 0
        names = 0
        for m in range(set_start[s], set_start[s + 1]):
            if is_entry[m]:
                touch_count += add_start[m + 1] - add_start[m] + del_start[m + 1] - del_start[m]
                names += list_start[m + 1] - list_start[m]
        most = max(most, set_start[s + 1] - set_start[s])
        most_touches = max(most_touches, touch_count)
        most_names = max(most_names, names)
    chain = np.empty(most, np.int32)
    clock_at = np.empty(most, np.int64)
    width = np.empty(most, np.int32)
    last = np.empty(most, np.int32)
    own = np.empty(most, np.int32)
    clock = np.empty(room, np.int32)
    # The touches of a set: those on one item are linked both ways.
    toucher = np.empty(most_touches, np.int32)
    code_of = np.empty(most_touches, np.int32)
    deletes = np.empty(most_touches, np.bool_)
    before = np.empty(most_touches, np.int32)
    after = np.empty(most_touches, np.int32)
    touch_start = np.zeros(most + 1, np.int32)
    given_by = np.full(most_touches, np.int32(-1))
    # Touches count from 0 through all sets; what was touched before a set began is not in it.
    latest = np.full(code_count, np.int64(-1))
    base = 0
    # By whom messages are superseded: a linked list each. And by whom lately.
    superseder = np.empty(most, np.int32)
    by = np.empty(most_names, np.int32)
    next_by = np.empty(most_names, np.int32)
    given_up_by = np.full(most, np.int32(-1))
    listed_by = np.full(most, np.int32(-1))
    # Open deletions.
    pool = np.empty(room, np.int32)
    other_pool = np.empty(room, np.int32)
    last_follower = np.empty(most, np.int32)
    open_at = np.empty(most, np.int64)
    open_count = np.empty(most, np.int32)
    merged = np.empty(most_touches, np.int32)
    merged_by = np.full(most_touches, np.int32(-1))
    missed_by = np.full(most_touches, np.int32(-1))
    found = np.empty(most_touches, np.int32)

    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        first_row, first_left = row_count, left
        touch_count = 0
        names = 0
        used = 0
        last_follower[: end - begin] = -1
        for m in range(begin, end):
            for e in range(start[m], start[m + 1]):
                last_follower[previous[e] - begin] = m
        steps = cover(begin, end, start, previous, chain, clock_at, width, clock, last, own, limit)
        is_within = steps >= 0
        for m in range(begin, end):
            if not is_within:
                break
            here = m - begin
            # It knows what is earlier on its own chain, or not beyond its reach on another.
            own_chain = chain[here]
            reach = clock[clock_at[here] : clock_at[here] + width[here]]

            # The deletions that are open for this message.
            is_only = start[m + 1] == start[m] + 1
            if is_only:
                p = previous[start[m]] - begin
                open_at[here] = open_at[p]
                open_count[here] = open_count[p]
                opened = pool[open_at[p] : open_at[p] + open_count[p]]
            else:
                count = 0
                for e in range(start[m], start[m + 1]):
                    p = previous[e] - begin
                    steps += open_count[p]
                    if steps > limit:
                        break
                    for k in range(open_at[p], open_at[p] + open_count[p]):
                        if merged_by[pool[k]] != m:
                            merged_by[pool[k]] = m
                            merged[count] = pool[k]
                            count += 1
                left_open = 0
                for k in range(count):
                    d = toucher[merged[k]]
                    t = superseder[d - begin]
                    while t >= 0:
                        c = chain[by[t] - begin]
                        if c == own_chain or (c < len(reach) and reach[c] >= by[t]):
                            break
                        t = next_by[t]
                        steps += 1
                    if t >= 0:
                        continue
                    t = np.int32(latest[code_of[merged[k]]] - base)
                    while depth[toucher[t]] > depth[d]:
                        c = chain[toucher[t] - begin]
                        if c == own_chain or (c < len(reach) and reach[c] >= toucher[t]):
                            break
                        t = before[t]
                        steps += 1
                    if depth[toucher[t]] <= depth[d]:
                        merged[left_open] = merged[k]
                        left_open += 1
                    if steps > limit:
                        break
                opened = merged[:left_open]
                merge_sort(opened, found)
            steps += len(opened)

            # What it says itself.
            superseder[here] = -1
            first_touch = touch_count
            adds = False
            if is_entry[m]:
                adds = add_start[m + 1] > add_start[m]
                for k in range(list_start[m], list_start[m + 1]):
                    d = superseded[k]
                    if begin <= d < m and listed_by[d - begin] != m:
                        listed_by[d - begin] = m
                        by[names] = m
                        next_by[names] = superseder[d - begin]
                        superseder[d - begin] = names
                        names += 1
                for kind in range(2):
                    item_start, items = (add_start, added) if kind == 0 else (del_start, deleted)
                    for k in range(item_start[m], item_start[m + 1]):
                        t = np.int32(max(latest[items[k]] - base, -1))
                        if t < first_touch:
                            toucher[touch_count] = m
                            code_of[touch_count] = items[k]
                            deletes[touch_count] = kind == 1
                            before[touch_count] = t
                            after[touch_count] = -1
                            if t >= 0:
                                after[t] = touch_count
                            latest[items[k]] = base + touch_count
                            touch_count += 1
                        elif kind == 1:
                            deletes[t] = True

            # MUST.
            for q in range(first_touch, touch_count):
                count = 0
                t = before[q]
                while t >= 0 and (count == 0 or depth[toucher[t]] == depth[found[0]]):
                    c = chain[toucher[t] - begin]
                    if c == own_chain or (c < len(reach) and reach[c] >= toucher[t]):
                        found[count] = toucher[t]
                        count += 1
                        if listed_by[toucher[t] - begin] == m:
                            count = 0
                            break
                    t = before[t]
                    steps += 1
                if steps > limit or left + count - first_left > room:
                    is_within = False
                    break
                if count > 0:
                    left_out = with_space(left_out, left, count)
                    left_out[left : left + count] = found[:count][::-1]
                    left += count
                    rows = _with_fault(rows, row_count, m, code_of[q], MUST, left)
                    row_count += 1

            # SHOULD. Deletions of one item are equally deep.
            missed = 0
            if adds:
                for q in opened:
                    if listed_by[toucher[q] - begin] != m:
                        missed_by[q] = m
                        missed += 1
            if left + missed - first_left > room:
                is_within = False
            if missed > 0 and is_within:
                left_out = with_space(left_out, left, missed)
                for q in opened:
                    if missed_by[q] != m:
                        continue
                    t = q
                    while t >= 0 and depth[toucher[t]] == depth[toucher[q]]:
                        if missed_by[t] == m:
                            missed_by[t] = -1
                            left_out[left] = toucher[t]
                            left += 1
                        t = after[t]
                        steps += 1
                    if steps > limit:
                        break
                    rows = _with_fault(rows, row_count, m, code_of[q], SHOULD, left)
                    row_count += 1

            # What it gives away: messages that items stand on, as far as it knows, and that it does not touch itself.
            touch_start[here + 1] = touch_count
            if is_entry[m] and is_within:
                for k in range(list_start[m], list_start[m + 1]):
                    d = superseded[k]
                    if d < begin or d >= m or given_up_by[d - begin] == m:
                        continue
                    given_up_by[d - begin] = m  # a list may name the same message any number of times
                    for q in range(touch_start[d - begin], touch_start[d - begin + 1]):
                        t = np.int32(latest[code_of[q]] - base)
                        steps += 1
                        if deletes[q] or t >= first_touch or given_by[q] == m:
                            continue
                        while t > q:
                            c = chain[toucher[t] - begin]
                            if c == own_chain or (c < len(reach) and reach[c] >= toucher[t]):
                                break
                            t = before[t]
                            steps += 1
                        c = chain[d - begin]
                        if t == q and (c == own_chain or (c < len(reach) and reach[c] >= d)):
                            given_by[q] = m
                            if left + 1 - first_left > room:
                                is_within = False
                                break
                            left_out = with_space(left_out, left, 1)
                            left_out[left] = d
                            left += 1
                            rows = _with_fault(rows, row_count, m, code_of[q], STANDING, left)
                            row_count += 1
                    if steps > limit or not is_within:
                        is_within = False
                        break

            # What is open for those that follow it.
            kept = 0
            for q in opened:
                d = toucher[q]
                is_deeper = depth[m] > depth[d] and toucher[latest[code_of[q]] - base] == m
                if listed_by[d - begin] == m or is_deeper:
                    continue
                found[kept] = q
                kept += 1
            fresh = 0
            for q in range(first_touch, touch_count):
                if deletes[q]:
                    found[kept + fresh] = q
                    fresh += 1
            # What has to be written, and from where.
            done = 0
            if is_only and kept == len(opened) and (fresh == 0 or open_at[here] + kept == used):
                done = kept
            else:
                open_at[here] = used
            open_count[here] = kept + fresh
            if used + kept + fresh - done > room:
                # The lists that are still needed move to the other pool.
                used = 0
                for x in range(here):
                    if last_follower[x] > m:
                        if used + open_count[x] > room // 2:
                            is_within = False
                            break
                        other_pool[used : used + open_count[x]] = pool[open_at[x] : open_at[x] + open_count[x]]
                        open_at[x] = used
                        used += open_count[x]
                steps += here
                pool, other_pool = other_pool, pool
                open_at[here] = used
                done = 0
            if steps > limit or used + kept + fresh - done > room:
                is_within = False
            else:
                pool[used : used + kept + fresh - done] = found[done : kept + fresh]
                used += kept + fresh - done
        base += touch_count
        if not is_within:
            is_checked[s] = False
            row_count, left = first_row, first_left
    return rows[: FIELDS * row_count].copy(), left_out[:left].copy(), is_checked
