"""The linearizer of Autobase: settles the nodes of a view group by group, and orders them.

An unsettled indexer node that sees no other one is a tail. The first confirmed tail comes next, else the search goes on
below a confirmed merge: the first tail that is confirmed under it, else a merge below it that is confirmed under it,
and so on; else all tails below the last merge come together. If several merges are confirmed, which rarely matters, the
first by depth, writer and length is chosen, and the search stays below it until it is settled.

A confirmed node stays so when more is settled. A node that is not confirmed stays so until a node beside it is settled:
so each level of the search tests every merge once, and after that only those that do not see all settled nodes. Of each
log, these merges are among the first unsettled nodes.

Source: autobase 7.28.1. Relayed writers: the design document, Writer Roles.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import base_of
from dbt_tangles.algorithms.autobase.confirmation import is_confirmed, is_merge, sees_no_more
from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled, inner

UNKNOWN, KNOWN, SETTLED = range(3)


class View(NamedTuple):
    """What an observer knows of a base, and the order so far."""

    known: np.ndarray  # int32[indexers], the length of each log
    removed: np.ndarray  # int32[indexers], the settled length of each log
    limit: np.ndarray  # int32[indexers], scratch of `confirmation`
    ack: np.ndarray  # int32[indexers], scratch of `confirmation`
    tail: np.ndarray  # int32[indexers], scratch
    stage: np.ndarray  # int8[nodes], UNKNOWN, KNOWN or SETTLED
    order: np.ndarray  # int32[nodes], the settled nodes, then the others
    rest: np.ndarray  # int32[nodes], the known nodes that are not settled, in any order
    group: np.ndarray  # int32[nodes], the nodes to place next
    no_node: np.ndarray  # bool[nodes], all False
    chosen: np.ndarray  # bool[nodes], all False; scratch of `place`, like the next two
    waiting: np.ndarray  # int32[nodes]
    heap: np.ndarray  # int32[nodes]
    is_merge: np.ndarray  # bool[nodes], whether a node is a merge
    merge: np.ndarray  # int32[merges], the unsettled merges by depth, then number
    merge_at: np.ndarray  # int32[nodes], the place of each in `merge`
    level_merge: np.ndarray  # int32[levels], the merge under which each level searches; -1 on level 0
    level_at: np.ndarray  # int32[levels], the place in `merge` up to which each level has tested


@compiled
def view_of(base):
    """Make a `View` without nodes."""
    nodes, n = base.clock.shape
    merging = np.zeros(nodes, np.bool_)
    for x in range(nodes):
        merging[x] = base.indexer[x] >= 0 and is_merge(np.int64(x), base)
    of_logs, of_nodes = np.zeros((5, n), np.int32), np.empty((7, nodes), np.int32)
    levels = np.empty((2, nodes + 2), np.int32)
    return View(
        *(of_logs[0], of_logs[1], of_logs[2], of_logs[3], of_logs[4]),
        np.zeros(nodes, np.int8),
        *(of_nodes[0], of_nodes[1], of_nodes[2]),
        np.zeros(nodes, np.bool_),
        np.zeros(nodes, np.bool_),
        *(of_nodes[3], of_nodes[4], merging, of_nodes[5], of_nodes[6], levels[0], levels[1]),
    )


@inner
def place(nodes, hidden, view, base, at):
    """Place nodes from `at` on, each time the first ready one, those to hide without a place; the end of the order."""
    for x in nodes:
        view.chosen[x] = True
    for x in nodes:
        view.waiting[x] = 0
        for e in range(base.start[x], base.start[x + 1]):
            view.waiting[x] += view.chosen[base.previous[e]]
    unplaced = Unplaced(base.child_start, base.child, view.chosen, view.waiting, view.heap)
    at = place_first_ready(nodes, unplaced, hidden, None, view.order, at)
    for x in nodes:
        view.chosen[x] = False
    return at


@inner
def with_ancestors(size, view, base):
    """Settle the first nodes of the group with all ancestors, and batches as wholes; the size of the group."""
    group, stage = view.group, view.stage
    for i in range(size):
        stage[group[i]] = SETTLED
    done = 0
    while done < size:
        x = np.int64(group[done])
        done += 1
        for e in range(base.start[x], base.start[x + 1]):
            p = base.previous[e]
            if stage[p] == KNOWN:
                stage[p] = SETTLED
                group[size] = p
                size += 1
        has_mate = base.batch[x] > 1 and x + 1 < len(stage) and base.writer[x + 1] == base.writer[x]
        if has_mate and stage[x + 1] == KNOWN:
            stage[x + 1] = SETTLED
            group[size] = x + 1
            size += 1
        k = base.indexer[x]
        if k >= 0:
            view.removed[k] = max(view.removed[k], x - base.first[k] + 1)
    return size


@inner
def list_tails(view, base):
    """List the tails by number; how many they are."""
    count = 0
    for k in range(len(view.known)):
        if view.removed[k] < view.known[k]:
            t = base.first[k] + view.removed[k]
            seen = 0
            for j in range(len(view.known)):
                seen += base.clock[t, j] > view.removed[j]
            if seen == 1:
                view.tail[count] = t
                count += 1
    view.tail[:count].sort()
    return count


@inner
def _list_merges(count, view, base):
    """List the merges among the first `count` nodes of the rest; how many they are."""
    merges = 0
    for i in range(count):
        x = view.rest[i]
        if view.is_merge[x]:
            view.merge[merges] = base.place[x]
            merges += 1
    view.merge[:merges].sort()
    for i in range(merges):
        view.merge[i] = base.causal[view.merge[i]]
        view.merge_at[view.merge[i]] = i
    return merges


@inner
def _is_below(z, p, base):
    """Say whether the merge p, if there is one, sees another node z of an indexer."""
    return p < 0 or (z != p and base.clock[p, base.indexer[z]] >= base.clock[z, base.indexer[z]])


@inner
def _find_merge(level, merges, view, base):
    """Find the first merge that is confirmed, or confirmed under the merge of a level; -1 without one."""
    p, at = np.int64(view.level_merge[level]), view.level_at[level]
    best = at
    for k in range(len(view.known)):
        # Of the merges tested before, only those with a settled node beside them may be confirmed by now.
        for i in range(view.removed[k], view.known[k]):
            z = np.int64(base.first[k] + i)
            if sees_no_more(view.removed, base.clock[z]):
                break
            if (
                view.is_merge[z]
                and view.merge_at[z] < best
                and _is_below(z, p, base)
                and is_confirmed(z, p, view, base)
            ):
                best = view.merge_at[z]
    if best < at:
        return np.int64(view.merge[best])
    end = merges if p < 0 else np.int64(view.merge_at[p])
    while at < end:
        z = np.int64(view.merge[at])
        at += 1
        if view.stage[z] == KNOWN and _is_below(z, p, base) and is_confirmed(z, p, view, base):
            view.level_at[level] = at
            return z
    view.level_at[level] = at
    return np.int64(-1)


@inner
def _find_group(levels, merges, view, base):
    """Find the next nodes to settle; put them into the group; their number and that of the levels of the search."""
    tails = list_tails(view, base)
    level = 0
    while True:
        p = np.int64(view.level_merge[level])
        for i in range(tails):
            t = np.int64(view.tail[i])
            if t == p or (_is_below(t, p, base) and is_confirmed(t, p, view, base)):
                view.group[0] = t
                return 1, levels
        level += 1
        if level == levels:
            z = _find_merge(level - 1, merges, view, base)
            if z < 0:
                break
            view.level_merge[levels] = z
            view.level_at[levels] = 0
            levels += 1
    size = 0
    for i in range(tails if levels > 1 else 0):
        if _is_below(np.int64(view.tail[i]), np.int64(view.level_merge[levels - 1]), base):
            view.group[size] = view.tail[i]
            size += 1
    return size, levels


@inner
def _drop_settled(merges, levels, view):
    """Drop the settled merges; how many are left."""
    left = 0
    for i in range(merges):
        view.heap[i] = left
        if view.stage[view.merge[i]] == KNOWN:
            view.merge[left] = view.merge[i]
            view.merge_at[view.merge[i]] = left
            left += 1
    for level in range(levels):
        at = view.level_at[level]
        view.level_at[level] = view.heap[at] if at < merges else left
    return left


@inner
def settle(count, view, base, at):
    """Settle all that can be settled among the first `count` nodes of the rest, and place it from `at` on; the end."""
    merges = _list_merges(count, view, base)
    gone, levels = np.int64(0), np.int64(1)
    view.level_merge[0] = -1
    view.level_at[0] = 0
    while len(view.known) > 0:
        size, levels = _find_group(levels, merges, view, base)
        if size == 0:
            break
        size = with_ancestors(size, view, base)
        at = place(view.group[:size], view.no_node, view, base, at)
        while levels > 1 and view.stage[view.level_merge[levels - 1]] == SETTLED:
            levels -= 1
        for i in range(size):
            gone += view.is_merge[view.group[i]]
        if 2 * gone > merges:
            merges = _drop_settled(merges, levels, view)
            gone = 0
    return at


@inner
def place_rest(count, view, base, at):
    """Drop the settled nodes from the first `count` nodes of the rest, and place the others; both ends."""
    left = 0
    for i in range(count):
        if view.stage[view.rest[i]] == KNOWN:
            view.rest[left] = view.rest[i]
            left += 1
    return left, place(view.rest[:left], base.is_relayed, view, base, at)


@inner
def add_known(top, count, view, base):
    """Add a node and its ancestors, or all nodes for -1, to the `count` nodes of the rest; the number of nodes."""
    if top < 0:
        for x in range(len(view.stage)):
            view.stage[x] = KNOWN
            view.rest[x] = x
        view.known[:] = base.known
        return len(view.stage)
    done = count
    view.rest[count] = top
    view.stage[top] = KNOWN
    count += 1
    while done < count:
        x = view.rest[done]
        done += 1
        for e in range(base.start[x], base.start[x + 1]):
            p = base.previous[e]
            if view.stage[p] == UNKNOWN:
                view.stage[p] = KNOWN
                view.rest[count] = p
                count += 1
    view.known[:] = base.clock[top]
    return count


@inner
def forget(view):
    """Empty a view."""
    view.stage[:] = UNKNOWN
    view.removed[:] = 0


def ordering(new_scratch: Callable, order_view: Callable) -> Callable:
    """Make a function of kernels that orders views one by one, as `order_views`.

    Args:
        new_scratch: An inner function of a base.
        order_view: An inner function of a view's number of nodes, this scratch, the view and its base. It puts the
            order into the view, and returns the number of settled nodes, and of all nodes in the order.
    """

    @inner
    def order_all(bases, chosen, top):
        size = np.int64(0)
        for b in chosen:
            size += bases.base_start[b + 1] - bases.base_start[b]
        order = np.empty(size, np.int32)
        view_start, confirmed = np.zeros(len(chosen) + 1, np.int64), np.zeros(len(chosen), np.int64)
        v = 0
        while v < len(chosen):
            b = chosen[v]
            base = base_of(bases, b)
            view, scratch = view_of(base), new_scratch(base)
            while v < len(chosen) and chosen[v] == b:
                forget(view)
                count = add_known(np.int64(top[v]), np.int64(0), view, base)
                confirmed[v], end = order_view(count, scratch, view, base)
                order[view_start[v] : view_start[v] + end] = view.order[:end]
                view_start[v + 1] = view_start[v] + end
                v += 1
        return view_start, order[: view_start[-1]].copy(), confirmed

    return order_all


@inner
def _no_scratch(base):
    return len(base.known)


@inner
def _order_view(count, _scratch, view, base):
    settled = settle(count, view, base, np.int64(0))
    return settled, place_rest(count, view, base, settled)[1]


_order_views = ordering(_no_scratch, _order_view)


@compiled
def order_views(bases, base, top):
    """Order the nodes of views.

    The confirmed part comes first, in the groups that were confirmed together. Each group, and the unconfirmed rest, is
    in topological order; of the ready nodes the first by writer and length comes next. A node is confirmed together
    with all its ancestors and with the known part of its batch. A relayed node is in the order only if it is confirmed;
    other nodes still come after their ancestors through it.

    Args:
        bases: `base_graphs.Bases`, with clocks.
        base: int64[views], the base of each view, ascending.
        top: int64[views], a node of the base: the view is the node and its ancestors; or -1: all nodes.

    Returns:
        int64[views + 1], the start of each view in the order; int32[...], the order, nodes of the bases; int64[views],
        the number of confirmed nodes.
    """
    return _order_views(bases, base, top)
