"""Votes and quorums of bases by their definition: level by level, from sets of ancestors."""

from collections.abc import Iterable, Iterator
from itertools import islice

from autobase_oracle import Base, Id

#: By node and degree: the node that reaches the quorum, and its voters.
Found = dict[tuple[Id, int], tuple[Id, list[bytes]]]


def votes_by_level(base: Base, x: Id, known: Iterable[Id] | None = None) -> Iterator[dict[bytes, Id]]:
    """Yield the vote of each indexer over a node among some nodes: each level knows a majority of the votes below."""
    majority = len(base.indexers) // 2 + 1
    voting = sorted((i for i in known or base.nodes if i.writer in base.indexers), reverse=True)
    votes = {i.writer: i for i in voting if x in base.past[i]}
    while True:
        yield votes
        before = set(votes.values())
        votes = {i.writer: i for i in voting if len(before & base.past[i]) >= majority}


def degree_among(base: Base, known: Iterable[Id], x: Id) -> int:
    """Return the highest degree of a quorum over x among these nodes."""
    most = len(base.nodes) + 2
    for degree, votes in enumerate(islice(votes_by_level(base, x, known), 1, most + 1)):
        if not votes:
            return degree
    return most


def lacking(base: Base, x: Id) -> tuple[int, list[bytes]]:
    """Return the first level, up to 2, that a majority lacks over a node, and the indexers without a vote of it."""
    majority = len(base.indexers) // 2 + 1
    for level, votes in enumerate(votes_by_level(base, x)):
        if level == 2 or len(votes) < majority:
            return level, sorted(set(base.indexers) - votes.keys())
    raise AssertionError


def plain_quorums(base: Base, max_degree: int) -> Found:
    """Return for each node and degree the node that reaches it, and the voters."""
    found: Found = {}
    for x in base.nodes:
        levels = votes_by_level(base, x)
        votes = next(levels)
        for degree in range(1, max_degree + 1):
            below, votes = votes, next(levels)
            if not votes:
                break
            first = min(votes.values(), key=lambda y: (base.depth[y], y))
            found[x, degree] = first, sorted(k for k, vote in below.items() if vote in base.past[first])
    return found
