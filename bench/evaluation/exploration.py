"""The work for ranks that count from the tips, which the document leaves aside.

Source: ScuttleSort 2022-05-09, section 2.1.
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def ranks_that_change(start: np.ndarray, cause: np.ndarray, arrived: np.ndarray) -> np.ndarray:
    """Count, for each arrival, the events that get a new rank, if ranks count from the tips as in section 2.1.

    Args:
        start: int64[events + 1], into the causes.
        cause: int32[...]; events of lower numbers.
        arrived: int32[arrivals].

    Returns:
        int64[arrivals]; the time is the product of arrivals and links.
    """
    events = len(start) - 1
    is_in = np.zeros(events, np.bool_)
    rank = np.full(events, -1)
    counts = np.zeros(len(arrived), np.int64)
    for i in range(len(arrived)):
        is_in[arrived[i]] = True
        fresh = np.zeros(events, np.int64)
        for e in range(events - 1, -1, -1):
            if is_in[e]:
                for k in range(start[e], start[e + 1]):
                    fresh[cause[k]] = max(fresh[cause[k]], fresh[e] + 1)
                counts[i] += rank[e] != fresh[e]
                rank[e] = fresh[e]
    return counts
