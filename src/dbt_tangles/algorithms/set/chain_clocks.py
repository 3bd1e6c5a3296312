"""Chain clocks of one set: ancestor queries by a greedy chain decomposition.

The messages are covered with chains; on a chain, each message descends from the one before. The clock of a message
holds, for each chain, its latest ancestor there. The number of chains is about that of concurrent writers. A row of
bits for each message would be simpler, but its size and time grow with the square of a set's messages.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The bound on the clock entries of one set, and the steps allowed per entry.
CLOCK_ENTRIES_PER_SET = 2**22
STEPS_PER_ENTRY = 16


class Clocks(NamedTuple):
    """The clocks of the messages; `entry`, `last` and `own` are those of one set at a time."""

    chain: np.ndarray  # int32[messages], the chain of each message in its set
    at: np.ndarray  # int64[messages], the start of its clock in `entry`
    width: np.ndarray  # int32[messages], the number of chains, from the first, that its clock covers
    entry: np.ndarray  # int32[room], the latest ancestor on a chain, or -1
    last: np.ndarray  # int32[messages], the last message of each chain
    own: np.ndarray  # int32[messages], the clock in the making


@compiled
def allocate_clocks(messages, room):
    """Allocate `Clocks` for so many messages and entries."""
    return Clocks(
        np.empty(messages, np.int32),
        np.empty(messages, np.int64),
        np.empty(messages, np.int32),
        np.empty(room, np.int32),
        np.empty(messages, np.int32),
        np.empty(messages, np.int32),
    )


@inner
def build_chain_clocks(begin, end, tangles, clocks, limit):
    """Compute the clocks of a set; return the steps taken, or -1 if the set exceeds a bound."""
    start, previous = tangles.start, tangles.previous
    chain, width, entry, last, own = clocks.chain, clocks.width, clocks.entry, clocks.last, clocks.own
    chains = 0
    used = 0
    steps = 0
    for m in range(begin, end):
        if start[m + 1] == start[m] + 1:
            p = previous[start[m]]
            if last[chain[p]] == p:
                chain[m] = chain[p]
                clocks.at[m] = clocks.at[p]
                width[m] = width[p]
                last[chain[m]] = m
                continue
        wide = 0
        for e in range(start[m], start[m + 1]):
            p = previous[e]
            wide = max(wide, chain[p] + 1, width[p])
            steps += width[p]
        steps += wide
        if used + wide > len(entry) or steps > limit:
            return -1
        own[:wide] = -1
        for e in range(start[m], start[m + 1]):
            p = previous[e]
            own[chain[p]] = max(own[chain[p]], p)
            for c in range(width[p]):
                own[c] = max(own[c], entry[clocks.at[p] + c])
        # The message continues the chain with the latest end among its ancestors.
        best = -1
        for c in range(wide):
            if own[c] >= 0 and own[c] == last[c] and (best < 0 or own[c] > own[best]):
                best = c
        if best < 0:
            best = chains
            chains += 1
        chain[m] = best
        last[best] = m
        clocks.at[m] = used
        width[m] = wide
        entry[used : used + wide] = own[:wide]
        used += wide
    return steps


@inner
def reaches(m, x, clocks):
    """Say whether `x`, a message before `m` in the order, is an ancestor of `m`."""
    c = clocks.chain[x]
    return c == clocks.chain[m] or (c < clocks.width[m] and clocks.entry[clocks.at[m] + c] >= x)
