"""The changes of each writer's view from one node of its log to the next: undone, appended and settled nodes.

A writer's view at one of its nodes is the node and its ancestors; before its first node it is empty. Under the rule of
`consensus`, settled nodes keep their order, so only the others are ordered again at each node. Under the rule of
`design`, a settled node can be contradicted later, so each view is ordered from scratch.

A settled node has a contender if the writer's previous node already saw a double quorum over it: the node beside it
with the highest quorum that this previous node sees.

Source: autobase 7.28.1; the design document of Autobase, Caveat.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase import design
from dbt_tangles.algorithms.autobase.base_graphs import Bases, base_of
from dbt_tangles.algorithms.autobase.consensus import add_known, forget, place_rest, settle, view_of
from dbt_tangles.algorithms.autobase.votes import degree_up_to_two, find_contender
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: How many nodes may be ordered again while the logs of a base are followed: for each node and log, and in all. The
#: rest of a longer log is left out.
STEPS_PER_NODE, MORE_STEPS = 64, 50_000_000


class Logs(NamedTuple):
    """The logs of writers."""

    base: np.ndarray  # int64[logs], the base of each, ascending
    first: np.ndarray  # int64[logs], its first node
    end: np.ndarray  # int64[logs], the end of its nodes


class Changes(NamedTuple):
    """The nodes at which part of a view was undone or settled, by log, then length."""

    log: np.ndarray  # int32[changes]
    node: np.ndarray  # int32[changes], the writer's node
    old_length: np.ndarray  # int32[changes], the nodes of the view before
    kept: np.ndarray  # int32[changes], how many of them begin the new view in the same order
    length: np.ndarray  # int32[changes], the nodes of the new view
    settled_start: np.ndarray  # int64[changes + 1], into `settled`
    settled: np.ndarray  # int32[...], the newly settled nodes, in order
    contender: np.ndarray  # int32[...], the contender of each, or -1
    left_out: np.ndarray  # int32[logs], the number of nodes at the end of each log that were not followed


def follow(bases: Bases, follower: np.ndarray, logs: Logs) -> Changes:
    """Follow writers through their logs by the rule of `consensus`; `follower` is of `base_graphs.first_followers`."""
    writers = np.bincount(logs.base, minlength=len(bases.base_start) - 1)
    steps = STEPS_PER_NODE * np.diff(bases.base_start) + MORE_STEPS // np.maximum(writers, 1)
    return _follow(bases, follower, logs, steps)


def follow_by_design(bases: Bases, follower: np.ndarray, logs: Logs) -> Changes:
    """Follow writers through their logs by the rule of `design`."""
    base = np.repeat(logs.base, logs.end - logs.first)
    nodes = np.concatenate([np.arange(a, b) for a, b in zip(logs.first, logs.end, strict=True)])
    return _compare(bases, follower, logs, design.order_views(bases, base, nodes))


@compiled
def _trimmed(found, count):
    """Return the first changes."""
    start = found.settled_start[: count + 1].copy()
    return Changes(
        found.log[:count].copy(),
        found.node[:count].copy(),
        found.old_length[:count].copy(),
        found.kept[:count].copy(),
        found.length[:count].copy(),
        start,
        found.settled[: start[-1]].copy(),
        found.contender[: start[-1]].copy(),
        found.left_out,
    )


@compiled
def _allocate(logs):
    """Make `Changes` with room for a change at every node."""
    room = np.sum(logs.end - logs.first)
    rows = np.empty((5, room), np.int32)
    settled = np.empty((2, 1_000), np.int32)
    left_out = np.zeros(len(logs.base), np.int32)
    start = np.zeros(room + 1, np.int64)
    return Changes(rows[0], rows[1], rows[2], rows[3], rows[4], start, settled[0], settled[1], left_out)


@compiled
def _with_settled(changes, count, more):
    """Return the changes with room for more settled nodes."""
    used = changes.settled_start[count]
    return Changes(
        changes.log,
        changes.node,
        changes.old_length,
        changes.kept,
        changes.length,
        changes.settled_start,
        with_space(changes.settled, used, more),
        with_space(changes.contender, used, more),
        changes.left_out,
    )


@inner
def _add_contenders(count, before, changes, rows, base, none_removed):
    """Find the contenders of the newly settled nodes of a change; `before` is the writer's node before it, or -1."""
    for i in range(changes.settled_start[count], changes.settled_start[count + 1]):
        x = np.int64(changes.settled[i])
        changes.contender[i] = -1
        if before >= 0 and degree_up_to_two(rows[x], base.clock[before], base) == 2:
            changes.contender[i] = find_contender(x, base.clock[before], none_removed, rows, base)


@compiled
def _follow(bases, follower, logs, steps):
    """Follow each log: `at` nodes are settled, `left` are not, `length` are in the order, `taken` steps are done."""
    changes = _allocate(logs)
    count = np.int64(0)
    log = 0
    while log < len(logs.base):
        b = logs.base[log]
        base = base_of(bases, b)
        rows = follower[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(base.clock.shape)
        view = view_of(base)
        none_removed = np.zeros(len(base.known), np.int32)
        old = np.empty(len(base.writer), np.int32)
        while log < len(logs.base) and logs.base[log] == b:
            forget(view)
            left, at, length, taken = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for w in range(logs.first[log], logs.end[log]):
                if taken > steps[b]:
                    changes.left_out[log] = logs.end[log] - w
                    break
                old_at, old_length = at, length
                old[: length - at] = view.order[at:length]
                left = add_known(np.int64(w), left, view, base)
                taken += left
                at = settle(left, view, base, at)
                left, length = place_rest(left, view, base, at)
                kept = old_at
                while kept < min(old_length, length) and old[kept - old_at] == view.order[kept]:
                    kept += 1
                if kept == old_length and at == old_at:
                    continue
                changes = _with_settled(changes, count, at - old_at)
                first = changes.settled_start[count]
                changes.settled[first : first + at - old_at] = view.order[old_at:at]
                changes.settled_start[count + 1] = first + at - old_at
                changes.log[count], changes.node[count] = log, w
                changes.old_length[count], changes.kept[count], changes.length[count] = old_length, kept, length
                _add_contenders(count, w - 1 if w > logs.first[log] else -1, changes, rows, base, none_removed)
                count += 1
            log += 1
    return _trimmed(changes, count)


@compiled
def _compare(bases, follower, logs, ordered):
    """Compare the view of each node with the one of its writer's node before."""
    view_start, order, confirmed = ordered
    changes = _allocate(logs)
    count = np.int64(0)
    v = 0
    for log in range(len(logs.base)):
        b = logs.base[log]
        base = base_of(bases, b)
        rows = follower[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(base.clock.shape)
        none_removed = np.zeros(len(base.known), np.int32)
        is_settled = np.zeros(len(base.writer), np.bool_)
        old = order[:0]
        for w in range(logs.first[log], logs.end[log]):
            new = order[view_start[v] : view_start[v + 1]]
            kept = 0
            while kept < min(len(old), len(new)) and old[kept] == new[kept]:
                kept += 1
            changes = _with_settled(changes, count, confirmed[v])
            first = at = changes.settled_start[count]
            for x in new[: confirmed[v]]:
                if not is_settled[x]:
                    is_settled[x] = True
                    changes.settled[at] = x
                    at += 1
            if kept < len(old) or at > first:
                changes.settled_start[count + 1] = at
                changes.log[count], changes.node[count] = log, w
                changes.old_length[count], changes.kept[count], changes.length[count] = len(old), kept, len(new)
                _add_contenders(count, w - 1 if w > logs.first[log] else -1, changes, rows, base, none_removed)
                count += 1
            old = new
            v += 1
    return _trimmed(changes, count)
