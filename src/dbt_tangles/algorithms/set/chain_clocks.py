"""Chain clocks of one set: ancestor queries by a greedy chain decomposition.

The messages are covered with chains; on a chain, each message descends from the one before. The clock of a message
holds, for each chain, its latest ancestor there. The number of chains is about that of concurrent writers.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The bound on the clock entries of one set, and the steps allowed per entry.
CLOCK_ENTRIES_PER_SET = 2**22
STEPS_PER_ENTRY = 16


class Clocks(NamedTuple):
    """The clocks of one set. Messages count from the first of the set."""

    chain: np.ndarray  # int32[messages], the chain of each message
    at: np.ndarray  # int64[messages], the start of its clock in `entry`
    width: np.ndarray  # int32[messages], the number of chains, from the first, that its clock covers
    entry: np.ndarray  # int32[room], the latest ancestor on a chain, or -1
    last: np.ndarray  # int32[messages], scratch
    own: np.ndarray  # int32[messages], scratch


@compiled
def allocate_clocks(set_start, room):
    """Allocate `Clocks` for the largest of some sets.

    Args:
        set_start: int64[sets + 1], into the messages.
        room: The most entries.

    Returns:
        `Clocks`.
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
    """Cover the messages of a set with chains, and compute their clocks."""
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
        best = _latest_end(own, last, wide)
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
def _latest_end(own, last, wide):
    """Return the chain with the latest end among the ancestors, or -1 if no ancestor ends a chain."""
    best = -1
    for c in range(wide):
        if own[c] >= 0 and own[c] == last[c] and (best < 0 or own[c] > own[best]):
            best = c
    return best


@inner
def reaches(m, x, begin, clocks):
    """Say whether an earlier message is an ancestor of a message."""
    c = clocks.chain[x - begin]
    here = m - begin
    return c == clocks.chain[here] or (c < clocks.width[here] and clocks.entry[clocks.at[here] + c] >= x)
