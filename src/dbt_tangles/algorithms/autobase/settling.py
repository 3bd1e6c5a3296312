"""Settles (confirms) a group of nodes with their ancestors and batches.

Source: autobase 7.28.1.
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def settle_group(group, size, graph, view, settled):
    """Settle nodes with all their ancestors, and batches as wholes."""
    start, previous, writer, batch, indexer = graph.start, graph.previous, graph.writer, graph.batch, graph.indexer
    for j in range(size):
        settled[group[j]] = True
    done = 0
    while done < size:
        x = np.int64(group[done])
        done += 1
        for e in range(start[x], start[x + 1]):
            if not settled[previous[e]]:
                settled[previous[e]] = True
                group[size] = previous[e]
                size += 1
        if batch[x] > 1 and x + 1 < view.end and writer[x + 1] == writer[x] and not settled[x + 1]:
            settled[x + 1] = True
            group[size] = x + 1
            size += 1
        k = indexer[x]
        if k >= 0:
            view.removed[k] = max(view.removed[k], x - view.first[k] + 1)
    return size
