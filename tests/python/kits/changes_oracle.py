"""Computes the changes of each writer's view at each of its nodes: every view is ordered from scratch with sets."""

from itertools import takewhile
from typing import NamedTuple

import autobase_oracle as oracle
import design_oracle
from autobase_oracle import Base, Id
from quorums_oracle import lacking

RULES = {"autobase": oracle.order_of, "design": design_oracle.plain_order}


class Change(NamedTuple):
    """The change at a node; `settled` are the newly settled nodes, each with its contender."""

    old_length: int
    kept: int
    undone: int
    appended: int
    settled: list[tuple[Id, Id | None]]


def contender(base: Base, x: Id, known: Base) -> Id | None:
    """Return the contender of x for an observer with this knowledge."""
    if x not in known.nodes or lacking(known, x)[0] < 2:
        return None
    beside = [i for i in known.nodes if i.writer in base.indexers and i not in base.past[x] and x not in base.past[i]]
    return min(beside, key=lambda i: (-lacking(known, i)[0], base.depth[i], i), default=None)


def changes(base: Base, rule: str = "autobase") -> dict[Id, Change]:
    """Return the change at each node that undoes or settles nodes."""
    found = {}
    for writer in sorted({i.writer for i in base.nodes}):
        old, seen = [], set()
        known = base.cut([])
        for i in sorted(i for i in base.nodes if i.writer == writer):
            now = base.cut(sorted(base.past[i]))
            order, confirmed = RULES[rule](now)
            kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, order, strict=False)))
            settled = [x for x in order[:confirmed] if x not in seen]
            if kept < len(old) or settled:
                beside = [(x, contender(base, x, known)) for x in settled]
                found[i] = Change(len(old), kept, len(old) - kept, len(order) - kept, beside)
            old, known = order, now
            seen.update(settled)
    return found
