"""The tails of a view: the first unsettled nodes of indexers that follow no other unsettled ones.

What a node follows of a log is unsettled no longer once it is settled, so of each log the search for an unsettled node
below its first one goes on where it ended. A log whose first unsettled node is no tail waits for the log of the node
that was found below it, and is looked at again when something of that log is settled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


class Tails(NamedTuple):
    """The tails, and who waits to become one.

    Attributes:
        node: int32[indexers], the tails by writer.
        scanned: int32[indexers]; the first unsettled node of each log follows nothing unsettled of so many logs.
        waiting: int32[indexers], the first log that waits for each, or -1.
        following: int32[indexers], the log that waits for the same as each, or -1.
    """

    node: np.ndarray
    scanned: np.ndarray
    waiting: np.ndarray
    following: np.ndarray


@inner
def _place_log(k, count, view, tails):
    """Make the first unsettled node of a log a tail, or let the log wait; how many tails there are then.

    Args:
        k: The indexer.
        count: How many tails there are.
        view: A `views.View`.
        tails: A `Tails`, kept up to date.
    """
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
    # They stand by writer, whatever the numbers of indexers.
    at = count
    while at > 0 and tails.node[at - 1] > t:
        tails.node[at] = tails.node[at - 1]
        at -= 1
    tails.node[at] = t
    return count + 1


@inner
def list_tails(view, tails):
    """List the tails of a view; how many they are.

    Args:
        view: A `views.View`.
        tails: A `Tails`, filled.
    """
    tails.scanned[:] = 0
    tails.waiting[:] = -1
    count = 0
    for k in range(len(view.removed)):
        count = _place_log(k, count, view, tails)
    return count


@inner
def update_tails(group, count, indexer, view, tails):
    """List the tails anew once more is settled; how many they are.

    Takes steps in proportion to the nodes, to the tails, and to the logs that waited.

    Args:
        group: int32[...], the nodes that were settled since the tails were listed.
        count: How many tails there were.
        indexer: int32[nodes].
        view: A `views.View`.
        tails: A `Tails`, kept up to date.
    """
    first, removed = view.first, view.removed
    left = 0
    gone = np.int64(-1)  # The logs of tails that were settled, as a list: none of them waits.
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
        # Who waits for a log is looked at once, with the last of the log's nodes.
        if k < 0 or x - first[k] + 1 < removed[k]:
            continue
        log = np.int64(tails.waiting[k])
        tails.waiting[k] = -1
        while log >= 0:
            following = np.int64(tails.following[log])
            left = _place_log(log, left, view, tails)
            log = following
    return left
