"""Count the events that a replica visits when an event arrives, by the definition of ranks.

Source: ScuttleSort 2022-05-09, sections 2.1, 2.2 and 2.2.1.
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def ranks_that_change(start: np.ndarray, cause: np.ndarray, arrived: np.ndarray, backward: bool) -> np.ndarray:
    """Count, for each arrival, the events that get a new rank: the minimum that any exploration visits.

    Args:
        start: int64[events + 1], into the causes.
        cause: int32[...]; events of lower numbers.
        arrived: int32[arrivals].
        backward: Whether ranks count from the tips, as in section 2.1, instead of the first events, as in section 2.2.

    Returns:
        int64[arrivals]; the time is the product of arrivals and links.
    """
    events = len(start) - 1
    is_in = np.zeros(events, np.bool_)
    rank = np.full(events, -1)
    fresh = np.empty(events, np.int64)
    counts = np.zeros(len(arrived), np.int64)
    for i in range(len(arrived)):
        is_in[arrived[i]] = True
        fresh[:] = 0
        for step in range(events):
            e = events - 1 - step if backward else step
            if not is_in[e]:
                continue
            for k in range(start[e], start[e + 1]):
                c = cause[k]
                if backward:
                    fresh[c] = max(fresh[c], fresh[e] + 1)
                elif is_in[c]:
                    fresh[e] = max(fresh[e], fresh[c] + 1)
        for e in range(events):
            if is_in[e] and rank[e] != fresh[e]:
                rank[e] = fresh[e]
                counts[i] += 1
    return counts


@compiled
def within_limit(start: np.ndarray, cause: np.ndarray, arrived: np.ndarray, limit: int) -> np.ndarray:
    """Reject each event with a cause whose successors are already at the limit.

    Args:
        start: int64[events + 1], into the causes.
        cause: int32[...].
        arrived: int32[arrivals].
        limit: The greatest number of successors of an accepted event.

    Returns:
        bool[events]: the accepted events.
    """
    is_in = np.zeros(len(start) - 1, np.bool_)
    successors = np.zeros(len(start) - 1, np.int64)
    for e in arrived:
        has_room = True
        for k in range(start[e], start[e + 1]):
            has_room = has_room and successors[cause[k]] < limit
        if has_room:
            is_in[e] = True
            for k in range(start[e], start[e + 1]):
                successors[cause[k]] += 1
    return is_in
