"""Contenders: the node beside a settled node whose quorum delayed its confirmation.

Source: the design document of Autobase, Caveat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import causal_order, clocks, depths, first_followers
from dbt_tangles.algorithms.autobase.views import View, find_logs
from dbt_tangles.algorithms.autobase.votes import first_with_majority
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class _Knowledge(NamedTuple):
    """The causal order, the clocks and the first followers of all nodes.

    Attributes:
        causal_place: int32[nodes], the place of each by depth, writer and length.
        clock_start: int64[bases + 1], of `clocks.clocks`.
        clock: int32[...], of the same.
        follower: int32[...], of `clocks.first_followers`.
    """

    causal_place: np.ndarray
    clock_start: np.ndarray
    clock: np.ndarray
    follower: np.ndarray


def contenders(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    settled: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Find the contender of each of some settled nodes.

    A node has a contender only if the writer's previous node already saw a double quorum over it. The contender is the
    indexer node beside it that this previous node sees with the highest quorum, up to degree two; ties go to the first
    by depth, writer and length.

    Args:
        view_start: int64[bases + 1], into the nodes; arrays as in `views`, each view a whole base.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[bases + 1].
        settled: int64[...], nodes.
        before: int64[...], the writer's node before the one that confirmed each of them, or -1.

    Returns:
        int64[...], nodes, or -1.

    Raises:
        ValueError: The edges close a cycle.
    """
    arrays = (view_start, start, previous, indexer, floor_start)
    depth = depths(view_start, start, previous)
    place = np.empty(len(indexer), np.int32)
    place[causal_order(view_start, depth)] = np.arange(len(indexer), dtype=np.int32)
    by_base = np.argsort(np.searchsorted(view_start, settled, "right"), kind="stable")
    found = np.empty(len(settled), np.int64)
    known = _Knowledge(place, *clocks(*arrays), first_followers(*arrays, depth))
    found[by_base] = _contenders(view_start, indexer, floor_start, known, settled[by_base], before[by_base])
    return found


@compiled
def _second_votes(begin, end, indexer, clock, follower):
    """Find the first node of each indexer that sees a quorum over each node.

    Args:
        begin: The first node of the base.
        end: The end of its nodes.
        indexer: int32[nodes].
        clock: int32[nodes of the base, indexers], of `clocks.clocks`.
        follower: int32[nodes of the base, indexers], of `clocks.first_followers`.

    Returns:
        int32[nodes of the base, indexers], lengths of logs, or `NEVER`.
    """
    n = clock.shape[1]
    first = np.empty(n, np.int64)
    known = np.empty(n, np.int64)
    find_logs(begin, end, indexer, first, known)
    votes = np.empty_like(follower)
    for x in range(end - begin):
        for k in range(n):
            votes[x, k] = first_with_majority(follower[x, k], known[k], first[k] - begin, clock, follower[x])
    return votes


@inner
def _known_votes(votes, row):
    count = 0
    for k in range(len(votes)):
        if votes[k] <= row[k]:
            count += 1
    return count


@inner
def _find_contender(x, before, view, causal_place, follower, second):
    """Find the contender of a node, or -1; see `contenders`.

    Args:
        x: The node.
        before: The writer's node before the one that confirmed it, or -1.
        view: A `views.View` with all nodes of the base.
        causal_place: int32[nodes], the place of each by depth, writer and length.
        follower: int32[nodes of the base, indexers].
        second: int32[nodes of the base, indexers], of `_second_votes`.
    """
    begin = view.begin
    n = len(view.known)
    best = np.int64(-1)
    if before < 0:
        return best
    known = view.clock[before - begin]
    majority = n // 2 + 1
    if _known_votes(second[x - begin], known) < majority:
        return best
    best_degree = -1
    for k in range(n):
        # The nodes of a log beside x are a run, and the first of them has the highest quorum.
        beside = view.clock[x - begin, k] + 1
        if beside <= known[k] and beside < follower[x - begin, k]:
            z = view.first[k] + beside - 1
            degree = 0
            if _known_votes(second[z - begin], known) >= majority:
                degree = 2
            elif _known_votes(follower[z - begin], known) >= majority:
                degree = 1
            if degree > best_degree or (degree == best_degree and causal_place[z] < causal_place[best]):
                best = z
                best_degree = degree
    return best


@compiled
def _contenders(view_start, indexer, floor_start, knowledge, settled, before):
    causal_place, clock_start, clocks, followers = knowledge
    found = np.full(len(settled), np.int64(-1))
    at = 0
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64), clock)
        find_logs(begin, end, indexer, view.first, view.known)
        second = _second_votes(begin, end, indexer, clock, follower)
        while at < len(settled) and settled[at] < end:
            found[at] = _find_contender(settled[at], before[at], view, causal_place, follower, second)
            at += 1
    return found
