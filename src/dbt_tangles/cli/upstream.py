"""The way from what is set aside up to where the trouble begins."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

#: Links that are looked at; a tangle in which more of them are set aside is searched in part.
MOST_LINKS = 200_000


def paths(links: Iterable[tuple[str, str]], start: str, ends: Iterable[str]) -> dict[str, list[str]]:
    """Find a shortest way from one node to each of several.

    Args:
        links: Nodes and what they follow.
        start: Where to begin.
        ends: Where to go.

    Returns:
        For each end that can be reached: the nodes on the way, both ends included.
    """
    follows: dict[str, list[str]] = {}
    for node, other in links:
        follows.setdefault(node, []).append(other)
    wanted = set(ends)
    came_from: dict[str, str | None] = {start: None}
    waiting = deque([start])
    found = {}
    while waiting and len(found) < len(wanted):
        node = waiting.popleft()
        if node in wanted:
            found[node] = _way(came_from, node)
        for other in follows.get(node, ()):
            if other not in came_from:
                came_from[other] = node
                waiting.append(other)
    return found


def _way(came_from: dict[str, str | None], end: str) -> list[str]:
    way = [end]
    while (before := came_from[way[-1]]) is not None:
        way.append(before)
    return way[::-1]


def origins(links: Iterable[tuple[str, str]], through: set[str], ends: set[str], start: str) -> dict[str, list[str]]:
    """Find where the trouble of a node begins.

    Args:
        links: Nodes and what they follow.
        through: Nodes in trouble because of what they follow.
        ends: Nodes that are missing, or in trouble by themselves; what these follow does not matter.
        start: A node of `through`.

    Returns:
        For each end that the start follows along nodes in trouble: the way to it.
    """
    within = ((node, other) for node, other in links if node in through and (other in through or other in ends))
    return paths(within, start, ends)
