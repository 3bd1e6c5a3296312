"""Finds root causes: breadth-first search from a node along the links to the missing or bad nodes it depends on.

Queries read 200,000 links at most; larger graphs are searched in part.
"""

from collections import deque
from collections.abc import Iterable


def shortest_paths(links: Iterable[tuple[str, str]], start: str, ends: Iterable[str]) -> dict[str, list[str]]:
    """Find shortest paths along links, pairs of a node and a node that it follows (breadth-first search).

    The result has the path from `start` to each of `ends` that can be reached, both ends included.
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
    """Find the root causes of a node, and shortest paths to them, along links as in `shortest_paths`.

    They are among `ends`, the nodes that are missing or bad by themselves. The nodes of `through`, as `start`, are set
    aside because of a node that they follow.
    """
    within = ((node, other) for node, other in links if node in through and (other in through or other in ends))
    return shortest_paths(within, start, ends)
