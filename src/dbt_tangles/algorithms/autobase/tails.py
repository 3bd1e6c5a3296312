"""Tails of a view: the first unsettled nodes of indexers that see no other unsettled indexer node.

The ancestors of a settled node are settled, so the search for an unsettled node below the first one of a log continues
where it ended. A log whose first unsettled node is not a tail waits for the log of the unsettled node found below it,
and is examined again when a node of that log is settled.

Source: autobase 7.28.1, tails of the linearizer.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


class Tails(NamedTuple):
    """The tails, and the logs that wait to have one.

    Attributes:
        node: int32[indexers], the tails by writer.
        scanned: int32[indexers], for each log the number of logs that were searched, without a hit, for an unsettled
            node below its first unsettled node.
        waiting: int32[indexers], the first log that waits for each log, or -1.
        following: int32[indexers], the next log that waits for the same log, or -1.
    """

    node: np.ndarray
    scanned: np.ndarray
    waiting: np.ndarray
    following: np.ndarray


@inner
def _place_log(k, count, view, tails):
    """Make the first unsettled node of a log a tail, or let the log wait; the number of tails."""
    first, removed = view.first, view.removed
    if removed[k] == view.known[k]:
        return count
    t = first[k] + removed[k]
    row = view.clock[t - view.begin]
    j = tails.scanned[k]
    while j < len(removed) and (j == k or row[j] <= removed[j]):
        j += 1
    tails.scanned[k] = j
    if j < len(removed):
        tails.following[k] = tails.waiting[j]
        tails.waiting[j] = k
        return count
    # Tails ascend by writer, not by indexer number.
    at = count
    while at > 0 and tails.node[at - 1] > t:
        tails.node[at] = tails.node[at - 1]
        at -= 1
    tails.node[at] = t
    return count + 1


@inner
def list_tails(view, tails):
    """List the tails of a view; their number."""
    tails.scanned[:] = 0
    tails.waiting[:] = -1
    count = 0
    for k in range(len(view.removed)):
        count = _place_log(k, count, view, tails)
    return count


@inner
def update_tails(group, count, indexer, view, tails):
    """Update the tails after nodes were settled; their number."""
    first, removed = view.first, view.removed
    left = 0
    gone = np.int64(-1)  # The logs of settled tails, as a linked list; these logs do not wait.
    for i in range(count):
        t = tails.node[i]
        k = np.int64(indexer[t])
        if t < first[k] + removed[k]:
            tails.following[k] = gone
            gone = k
        else:
            tails.node[left] = t
            left += 1
    for x in group:
        if indexer[x] >= 0:
            tails.scanned[indexer[x]] = 0
    while gone >= 0:
        k = gone
        gone = np.int64(tails.following[k])
        left = _place_log(k, left, view, tails)
    for x in group:
        k = np.int64(indexer[x])
        # The logs that wait for a log are examined once, with the last settled node of the log.
        if k < 0 or x - first[k] + 1 < removed[k]:
            continue
        log = np.int64(tails.waiting[k])
        tails.waiting[k] = -1
        while log >= 0:
            following = np.int64(tails.following[log])
            left = _place_log(log, left, view, tails)
            log = following
    return left
