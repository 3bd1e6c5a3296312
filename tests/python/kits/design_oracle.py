"""The design document's rule for what is settled, as it is written, with sets alone."""

from __future__ import annotations

from collections.abc import Iterable

from autobase_oracle import Base, Id, pasts_of, smallest_first
from rule_search import Answer


def degree_among(base: Base, known: set[Id], x: Id) -> int:
    """Find the highest degree of the quorums over x that these nodes make."""
    majority = len(base.indexers) // 2 + 1
    voting = sorted(i for i in known if i.writer in base.indexers)

    def first_of_each(knows) -> dict[bytes, Id]:
        return {i.writer: i for i in reversed(voting) if knows(i)}

    votes = first_of_each(lambda y: x in base.past[y])
    for degree in range(len(base.nodes) + 2):
        before = set(votes.values())
        votes = first_of_each(lambda y, before=before: len(before & base.past[y]) >= majority)
        if not votes:
            return degree
    return len(base.nodes) + 2


def settle_next(base: Base, depth: dict[Id, int], degree: dict[Id, int], settled: set[Id]) -> list[set[Id]]:
    """Find what is settled next, fork by fork."""
    voting = [i for i in base.nodes if i.writer in base.indexers and i not in settled]

    def beside(x: Id) -> Iterable[Id]:
        return (i for i in voting if i not in base.past[x] and x not in base.past[i])

    able = [x for x in voting if degree[x] >= 2 + max([0, *(degree[i] for i in beside(x))])]
    if not able:
        return []
    x = min(able, key=lambda i: (depth[i], i))
    below, groups, done = set(base.past[x]) - {x}, [], set(settled)
    while x not in done:
        left = [i for i in voting if i in base.past[x] and i not in done]
        tails = [i for i in left if base.past[i].isdisjoint(set(left) - {i})]
        leading = max(degree_among(base, below, t) for t in tails)
        t = min(t for t in tails if degree_among(base, below, t) == leading)
        groups.append(pasts_of(base, [t]) - done)
        done |= groups[-1]
    return groups


def plain_order(base: Base) -> Answer:
    """Order a base by the rule as it is written, with sets alone."""
    depth: dict[Id, int] = {}
    for i in sorted(base.nodes, key=lambda i: len(base.past[i])):
        depth[i] = 1 + max((depth[p] for p in base.previous(i)), default=-1)
    degree = {i: degree_among(base, set(base.nodes), i) for i in base.nodes if i.writer in base.indexers}
    settled, order = set(), []
    while groups := settle_next(base, depth, degree, settled):
        for group in groups:
            order += smallest_first(base, group, group)
            settled |= group
    rest = set(base.nodes) - settled
    shown = {i for i in rest if not base.nodes[i].is_relayed}
    return order + smallest_first(base, rest, shown), len(order)
