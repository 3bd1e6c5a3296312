"""The order of a base in plain Python: a slow reference for the kernel.

A writer and a length identify a node. The ancestors of a node are a set of nodes. Every question is answered from
these sets, without clocks, bisection or caches.

Tests select a broken rule to show that a search finds replicas that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

#: The broken variants of the rule.
RULE = "autobase"
BROKEN_RULES = (
    "one quorum is enough",  # A node with enough acknowledgements does not need votes.
    "concurrent nodes do not matter",  # Every node that sees the target votes for it.
    "weak votes count",  # The last known node of a log counts as if it saw the quorum.
    "nobody knows better",  # Below a merge, nodes that could have been settled unseen are ignored.
)

ACK, WEAK, NO = "ack", "weak", "no"


class Id(NamedTuple):
    """A node's writer and its position in the writer's log, from 1. Ids sort as Autobase sorts ready nodes."""

    writer: bytes
    length: int


@dataclass(frozen=True)
class Node:
    """A node: its heads, and the number of nodes left in its batch, itself included."""

    id: Id
    heads: tuple[Id, ...] = ()
    batch: int = 1
    is_relayed: bool = False


@dataclass
class Base:
    """A base as one observer knows it.

    Attributes:
        indexers: Keys of the writers that vote with their nodes.
        nodes: The known nodes.
        floor: The length of each indexer's log that was settled before; these nodes are not in `nodes`.
    """

    indexers: tuple[bytes, ...]
    nodes: dict[Id, Node]
    floor: dict[bytes, int] = field(default_factory=dict)

    def cut(self, ids: Iterable[Id]) -> Base:
        """Return the base with only some of its nodes."""
        return replace(self, nodes={i: self.nodes[i] for i in ids})

    def previous(self, i: Id) -> set[Id]:
        """Return the previous nodes of a node."""
        return {h for h in (*self.nodes[i].heads, Id(i.writer, i.length - 1)) if h in self.nodes}

    def batch_of(self, i: Id) -> set[Id]:
        """Return the node and the known later nodes of its batch."""
        found = {i}
        while self.nodes[i].batch > 1 and (i := Id(i.writer, i.length + 1)) in self.nodes:
            found.add(i)
        return found

    @cached_property
    def past(self) -> dict[Id, frozenset[Id]]:
        """Return the ancestors of each node, itself included."""
        found: dict[Id, frozenset[Id]] = {}
        stack = list(self.nodes)
        while stack:
            i = stack[-1]
            waiting = [p for p in self.previous(i) if p not in found]
            if waiting:
                stack += waiting
                continue
            found[i] = frozenset({i}).union(*(found[p] for p in self.previous(i)))
            stack.pop()
        return found

    @cached_property
    def depth(self) -> dict[Id, int]:
        """Return the longest path down from each node."""
        found: dict[Id, int] = {}
        for i in sorted(self.nodes, key=lambda i: len(self.past[i])):
            found[i] = max((found[p] + 1 for p in self.previous(i)), default=0)
        return found


def pasts_of(base: Base, ids: Iterable[Id]) -> set[Id]:
    """Return the ancestors of some nodes, with whole batches."""
    found: set[Id] = set()
    stack = list(ids)
    while stack:
        new = base.past[stack.pop()] - found
        found |= new
        stack += [mate for i in new for mate in base.batch_of(i) if mate not in found]
    return found


def smallest_first(base: Base, ids: set[Id], shown: set[Id]) -> list[Id]:
    """Sort nodes topologically (Kahn), the smallest ready node first; return only the shown nodes."""
    left, order = set(ids), []
    while left:
        hidden = [i for i in left - shown if not base.previous(i) & left]
        if hidden:
            left -= set(hidden)
            continue
        ready = min(i for i in left if not base.previous(i) & left)
        order.append(ready)
        left.remove(ready)
    return order


class Machine:
    """Settles nodes group by group, and answers questions about the unsettled nodes."""

    def __init__(self, base: Base, rule: str = RULE):
        """Start with the nodes that were settled before; the rule is `RULE`, or one of `BROKEN_RULES`."""
        self.base = base
        self.rule = rule
        self.majority = len(base.indexers) // 2 + 1
        self.settled: set[Id] = set()
        self.order: list[Id] = []
        by_depth = sorted(base.nodes, key=lambda i: (base.depth[i], i))
        self.merges = [i for i in by_depth if i.writer in base.indexers and self.is_merge(i)]
        self.below: list[Id] = []

    def sees(self, y: Id, x: Id) -> bool:
        """Return whether y is x or a descendant of x."""
        return x in self.base.past[y]

    def log(self, writer: bytes) -> list[Id]:
        """Return the known part of a writer's log, ascending."""
        return sorted(i for i in self.base.nodes if i.writer == writer)

    def seen(self, x: Id, writer: bytes) -> int:
        """Return the length of a writer's log that x sees."""
        lengths = [i.length for i in self.base.past[x] if i.writer == writer]
        return max([self.base.floor.get(writer, 0), *lengths])

    def removed(self, writer: bytes) -> int:
        """Return the settled length of a writer's log."""
        return max([self.base.floor.get(writer, 0), *(i.length for i in self.settled if i.writer == writer)])

    def is_merge(self, x: Id) -> bool:
        """Return whether two or more of the last indexer nodes that x sees are maximal."""
        below = [i for i in self.base.past[x] - {x} - self.settled if i.writer in self.base.indexers]
        return sum(not any(self.sees(y, i) for y in below if y != i) for i in below) > 1

    def is_newer(self, x: Id, y: Id) -> bool:
        """Return whether y sees x, and sees only settled indexer nodes concurrent with x."""
        if not self.sees(y, x):
            return False
        if self.rule == "concurrent nodes do not matter":
            return True
        for k in self.base.indexers:
            beyond = Id(k, max(self.seen(x, k), self.removed(k)) + 1)
            if beyond in self.base.past[y] and not self.sees(beyond, x):
                return False
        return True

    def acks(self, x: Id) -> set[Id]:
        """Return x, and each other indexer's first node that x does not see, if that node acknowledges x."""
        found = {x}
        for k in set(self.base.indexers) - {x.writer}:
            first = Id(k, self.seen(x, k) + 1)
            if first in self.base.nodes and self.is_newer(x, first):
                found.add(first)
        return found

    def vote(self, k: bytes, x: Id, length: int) -> str:
        """Return the vote of indexer k on x, by this length of its log."""
        counted = [i for i in self.log(k) if self.removed(k) < i.length <= length]
        newer = [i for i in counted if self.is_newer(x, i)]
        if not newer:
            return NO
        if len(self.acks(x) & self.base.past[newer[-1]]) >= self.majority:
            return ACK
        return WEAK if newer[-1] == counted[-1] else NO

    def is_confirmed(self, x: Id) -> bool:
        """Return whether the known nodes settle x."""
        if len(self.acks(x)) < self.majority:
            return False
        if self.rule == "one quorum is enough":
            return True
        votes = [self.vote(k, x, max([0, *(i.length for i in self.log(k))])) for k in self.base.indexers]
        if self.rule == "weak votes count":
            votes = [ACK if vote == WEAK else vote for vote in votes]
        return votes.count(ACK) >= self.majority or NO not in votes

    def may_be_confirmed(self, x: Id, p: Id) -> bool:
        """Return whether the nodes that p sees settle x, or unseen nodes could."""
        acks = self.acks(x)
        if len(acks) < self.majority or self.rule == "nobody knows better":
            return False
        votes = {k: self.vote(k, x, p.length - 1 if k == p.writer else self.seen(p, k)) for k in self.base.indexers}
        if list(votes.values()).count(ACK) >= self.majority:
            return True
        if len(acks & self.base.past[p]) < self.majority:
            return False
        count = 0
        for k, vote in votes.items():
            last = Id(k, self.seen(p, k))
            count += (
                vote == ACK
                or last.length <= max(self.seen(x, k), self.removed(k))
                or last not in self.base.nodes
                or self.is_newer(x, last)
            )
        return count >= self.majority

    def tails(self) -> list[Id]:
        """Return each indexer's first unsettled node, except those that see another indexer's first unsettled node."""
        firsts = [Id(k, self.removed(k) + 1) for k in self.base.indexers]
        firsts = [i for i in firsts if i in self.base.nodes]
        return sorted(i for i in firsts if not any(self.sees(i, other) for other in firsts if other != i))

    def group(self) -> list[Id]:
        """Return the next nodes to settle."""
        tails = self.tails()
        for t in tails:
            if self.is_confirmed(t):
                return [t]
        # The search continues below a merge until the merge is settled.
        self.below = [x for x in self.below if x not in self.settled]
        if not self.below:
            self.below = [m for m in self.merges if self.is_confirmed(m)][:1]
        for x in self.below:
            if x in tails:
                return [x]
            seen = [t for t in tails if self.sees(x, t)]
            for t in seen:
                if self.may_be_confirmed(t, x):
                    return [t]
            if x == self.below[-1]:
                merges = (m for m in self.merges if m != x and self.sees(x, m) and self.may_be_confirmed(m, x))
                found = next(merges, None)
                if found is None:
                    return seen
                self.below.append(found)
        return []

    def run(self) -> tuple[list[Id], int]:
        """Settle nodes as long as the known nodes settle another one; return the same as `order_of`."""
        while group := self.group():
            new = pasts_of(self.base, group) - self.settled
            self.order += smallest_first(self.base, new, new)
            self.settled |= new
            self.merges = [m for m in self.merges if m not in new]
        rest = set(self.base.nodes) - self.settled
        shown = {i for i in rest if not self.base.nodes[i].is_relayed}
        return self.order + smallest_first(self.base, rest, shown), len(self.order)


def order_of(base: Base, rule: str = RULE) -> tuple[list[Id], int]:
    """Order a base by a rule; return the known nodes without unsettled relayed ones, and the settled length."""
    return Machine(base, rule).run()
