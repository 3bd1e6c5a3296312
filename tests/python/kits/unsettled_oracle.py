"""Why nodes of a base are not settled, from sets of ancestors; next nodes published on a base; all possible ones."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from autobase_oracle import Base, Id, Node
from quorums_oracle import lacking


def reason_of(base: Base, settled: set[Id], x: Id) -> tuple[str, Id | None, Id | None, list[bytes]]:
    """Return the reason, the contender, the awaited merge and the missing writers of an unsettled node."""

    def first(ids) -> Id | None:
        return min(ids, key=lambda i: (base.depth[i], i), default=None)

    voting = [i for i in base.nodes if i.writer in base.indexers]
    target = first(i for i in voting if x in base.past[i])
    if target is None:
        return "needs_votes", None, None, sorted(base.indexers)
    beside = [i for i in voting if i not in settled and target not in base.past[i] and i not in base.past[target]]
    if not beside:
        return "needs_votes", None, None, lacking(base, target)[1]
    contender = min(beside, key=lambda i: (-lacking(base, i)[0], base.depth[i], i))
    merge = first(i for i in voting if {target, contender} <= base.past[i])
    if merge is None:
        return "contender", contender, None, lacking(base, target)[1]
    return "awaits_merge", contender, merge, lacking(base, merge)[1]


def publish(base: Base, writer: bytes, heads: tuple[Id, ...]) -> Base:
    """Return the base with the next node of a writer."""
    own = [i for i in base.nodes if i.writer == writer]
    length = max([base.floor.get(writer, 0), *(i.length for i in own)]) + 1
    left = base.nodes[max(own)].batch - 1 if own else 0
    i = Id(writer, length)
    return replace(base, nodes=base.nodes | {i: Node(i, heads, max(left, 1))})


def followable(base: Base) -> list[Id]:
    """Return the nodes that a next node may follow."""
    return [i for i, node in sorted(base.nodes.items()) if node.batch == 1 and not node.is_relayed]


def heads_of(base: Base) -> list[Id]:
    """Return the nodes that a next node of a writer with all nodes follows."""
    ids = followable(base)
    return [i for i in ids if not any(i in base.past[j] for j in ids if j != i)]


def every_next(base: Base, writers: list[bytes]) -> Iterator[Base]:
    """Yield the base with every possible next node of some writers."""
    ids = followable(base)
    antichains: list[tuple[Id, ...]] = [()]
    for size in range(1, len(ids) + 1):
        found = [
            chosen
            for chosen in combinations(ids, size)
            if not any(i in base.past[j] for i in chosen for j in chosen if i != j)
        ]
        if not found:
            break
        antichains += found
    for writer in writers:
        for chosen in antichains:
            yield publish(base, writer, chosen)
