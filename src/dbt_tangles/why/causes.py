"""Finds root causes: breadth-first search from a node along the links to the missing or bad nodes it depends on.

Queries read 200,000 links at most; larger graphs are searched in part.
"""

from collections import deque
from collections.abc import Iterable


def shortest_paths(links: Iterable[tuple[str, str]], start: str, ends: Iterable[str]) -> dict[str, list[str]]:
    """Find shortest paths from one node to each of several (breadth-first search).

    Args:
        links: Pairs of a node and a node that it follows.
        start: The first node of every path.
        ends: The last nodes; the result has the paths to those that can be reached, both ends included.
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
            path = [node]
            while (before := came_from[path[-1]]) is not None:
                path.append(before)
            found[node] = path[::-1]
        for other in follows.get(node, ()):
            if other not in came_from:
                came_from[other] = node
                waiting.append(other)
    return found


def find_root_causes(
    links: Iterable[tuple[str, str]], through: set[str], ends: set[str], start: str
) -> dict[str, list[str]]:
    """Find the root causes of a node, and shortest paths to them.

    Args:
        links: Pairs of a node and a node that it follows.
        through: The nodes that are set aside because of a node that they follow.
        ends: The nodes that are missing or bad by themselves; the search ends at them.
        start: A node of `through`.
    """
    within = ((node, other) for node, other in links if node in through and (other in through or other in ends))
    return shortest_paths(within, start, ends)
