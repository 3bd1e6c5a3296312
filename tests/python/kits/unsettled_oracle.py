"""Why nodes of a base are not settled, and its heads, from sets of ancestors."""

from autobase_oracle import Base, Id
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


def followable(base: Base) -> list[Id]:
    """Return the nodes that a next node may follow."""
    return [i for i, node in sorted(base.nodes.items()) if node.batch == 1 and not node.is_relayed]


def heads_of(base: Base) -> list[Id]:
    """Return the nodes that a next node of a writer with all nodes follows."""
    ids = followable(base)
    return [i for i in ids if not any(i in base.past[j] for j in ids if j != i)]
