"""Orders a base by the rule of Autobase's design document, as written, with sets only."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from autobase_oracle import Base, Id, Node, pasts_of, smallest_first
from base_arrays import Answer
from quorums_oracle import degree_among


def degrees_of(base: Base, asked: Iterable[Id], known: Iterable[Id] | None = None) -> dict[Id, int]:
    """Return the highest degree over each requested indexer node among these nodes, by default all nodes."""
    known = set(base.nodes if known is None else known)
    return {i: degree_among(base, known, i) for i in asked if i.writer in base.indexers}


def leading(base: Base, degree: dict[Id, int], settled: set[Id]) -> set[Id]:
    """Return the nodes that lead by two, by the degrees that one node knows."""
    left = degree.keys() - settled

    def contenders(x: Id) -> Iterator[int]:
        return (degree[i] for i in left if i not in base.past[x] and x not in base.past[i])

    return {x for x in left if degree[x] >= 2 + max([0, *contenders(x)])}


def groups_below(base: Base, x: Id, settled: set[Id]) -> Iterator[set[Id]]:
    """Yield the groups that x settles, tail by tail; the last group contains x."""
    voting = [i for i in base.past[x] if i.writer in base.indexers]
    below, done = set(base.past[x]) - {x}, set(settled)
    while x not in done:
        left = {i for i in voting if i not in done}
        tails = [i for i in left if base.past[i].isdisjoint(left - {i})]
        highest = max(degree_among(base, below, t) for t in tails)
        t = min(t for t in tails if degree_among(base, below, t) == highest)
        group = pasts_of(base, [t]) - done
        yield group
        done |= group


def unseen_nodes(base: Base) -> Iterator[tuple[bytes, Base]]:
    """Yield the known nodes of each indexer's possible next nodes, which follow its last node and at most one other."""
    seen = set()
    for writer in base.indexers:
        last = max((i for i in base.nodes if i.writer == writer), default=None)
        own = base.past[last] if last else frozenset()
        # A node may follow only the last node of a batch.
        for head in [None, *(i for i in base.nodes if base.nodes[i].batch == 1)]:
            known = own | base.past[head] if head else own
            if (writer, known) not in seen:
                seen.add((writer, known))
                new = Id(writer, (last.length if last else base.floor.get(writer, 0)) + 1)
                nodes = {i: base.nodes[i] for i in known} | {new: Node(new, (head,) if head else ())}
                yield writer, replace(base, nodes=nodes)


def leading_unseen(base: Base, writer: bytes, degree: dict[Id, int], settled: set[Id]) -> set[Id]:
    """Return the nodes that a writer's unseen node could settle, unless the writer has a concurrent unsettled node."""
    logged = [i for i in degree.keys() - settled if i.writer == writer]
    found = leading(base, degree, settled)
    return {x for x in found if all(i in base.past[x] or x in base.past[i] for i in logged)}


def settled_order(base: Base) -> list[Id]:
    """Settle the nodes that lead by two at an indexer node, in causal order."""
    voting = sorted((i for i in base.nodes if i.writer in base.indexers), key=lambda i: (base.depth[i], i))
    degrees = [degrees_of(base, base.past[y], base.past[y]) for y in voting]
    settled, order = set(), []
    while able := next((found for degree in degrees if (found := leading(base, degree, settled))), set()):
        for group in groups_below(base, min(able, key=lambda i: (base.depth[i], i)), settled):
            order += smallest_first(base, group, group)
            settled |= group
    return order


def plain_order(base: Base) -> Answer:
    """Order a base by the rule as written; return the order and its confirmed length."""
    order = settled_order(base)
    settled, confirmed = set(order), len(order)
    shown = {i for i in base.nodes if not base.nodes[i].is_relayed}
    left = base.nodes.keys() - settled
    unseen = [(writer, degrees_of(known, known.nodes.keys() & left)) for writer, known in unseen_nodes(base)]
    while able := set().union(*(leading_unseen(base, *one, settled) for one in unseen)):
        for group in groups_below(base, min(able, key=lambda i: (base.depth[i], i)), settled):
            order += smallest_first(base, group, group & shown)
            settled |= group
    rest = set(base.nodes) - settled
    return order + smallest_first(base, rest, shown & rest), confirmed
