"""What each message of a set knows: all that it follows, through messages of all kinds.

The messages are covered with chains, each of which follows the one before on its chain, and a message's clock says how
far along each chain it knows. There are about as many chains as writers at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: For each set, how many entries its clocks may have, and in how many times as many steps they are made.
CLOCK_ENTRIES_PER_SET = 2**22
STEPS_PER_ENTRY = 16


class Clocks(NamedTuple):
    """The clocks of one set's messages, which count from its first.

    Attributes:
        chain: int32[messages], the chain of each.
        at: int64[messages], where in `entry` its clock begins.
        width: int32[messages], of how many chains, from the first, it tells.
        entry: int32[room], the latest message known on a chain, or -1.
        last: int32[messages], spare.
        own: int32[messages], spare.
    """

    chain: np.ndarray
    at: np.ndarray
    width: np.ndarray
    entry: np.ndarray
    last: np.ndarray
    own: np.ndarray


@compiled
def allocate_clocks(set_start, room):
    """Make room for the clocks of any one of some sets.

    Args:
        set_start: int64[sets + 1], into the messages.
        room: How many entries they may have.

    Returns:
        A `Clocks`.
    """
    most = np.int64(0)
    for s in range(len(set_start) - 1):
        most = max(most, set_start[s + 1] - set_start[s])
    return Clocks(
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int32),
        np.empty(room, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
    )


@inner
def build_chain_clocks(begin, end, start, previous, clocks, limit):
    """Cover the messages of a set with chains, and note for each message how far along the others it has come.

    A message prolongs a chain whose end it follows, the latest of them, or begins a new one. One that just prolongs the
    chain of its only previous knows the same of the others, so it shares that one's clock. What a clock says of its
    message's own chain is therefore not to be looked at: whatever is earlier on that chain is known.

    Args:
        begin: The first message of the set.
        end: Behind the last.
        start: int64[messages + 1].
        previous: int32[edges], earlier messages.
        clocks: A `Clocks`, to be filled.
        limit: How many steps may be taken.

    Returns:
        How many steps were taken, or -1 when it did not work out.
    """
    chain, clock_at, width, clock, last, own = clocks
    chains = 0
    used = 0
    steps = 0
    for m in range(begin, end):
        here = m - begin
        wide = 0
        if start[m + 1] == start[m] + 1:
            p = previous[start[m]] - begin
            if last[chain[p]] == p + begin:
                chain[here] = chain[p]
                clock_at[here] = clock_at[p]
                width[here] = width[p]
                last[chain[here]] = m
                continue
        for e in range(start[m], start[m + 1]):
            p = previous[e] - begin
            wide = max(wide, chain[p] + 1, width[p])
            steps += width[p]
        steps += wide
        if used + wide > len(clock) or steps > limit:
            return -1
        own[:wide] = -1
        for e in range(start[m], start[m + 1]):
            p = previous[e] - begin
            own[chain[p]] = max(own[chain[p]], previous[e])
            for c in range(width[p]):
                own[c] = max(own[c], clock[clock_at[p] + c])
        best = -1
        for c in range(wide):
            if own[c] >= 0 and own[c] == last[c] and (best < 0 or own[c] > own[best]):
                best = c
        if best < 0:
            best = chains
            chains += 1
        chain[here] = best
        last[best] = m
        clock_at[here] = used
        width[here] = wide
        clock[used : used + wide] = own[:wide]
        used += wide
    return steps


@inner
def reaches(m, x, begin, clocks):
    """Say whether a message knows an earlier one.

    Args:
        m: A message of the set.
        x: An earlier one.
        begin: The first message of the set.
        clocks: A `Clocks` that `build_chain_clocks` filled.
    """
    c = clocks.chain[x - begin]
    here = m - begin
    return c == clocks.chain[here] or (c < clocks.width[here] and clocks.entry[clocks.at[here] + c] >= x)
