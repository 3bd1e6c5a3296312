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
    links: Iterable[tuple[str, str]], reasons: dict[str, str], inherited: set[str], missing: set[str], start: str
) -> dict[str, list[str]]:
    """Find the root causes of a node that is set aside, and shortest paths to them, along links as in `shortest_paths`.

    They are missing, or set aside for another of the `reasons` than those that nodes inherit from a node they follow.
    """
    through = {id_ for id_, reason in reasons.items() if reason in inherited}
    ends = missing | (reasons.keys() - through)
    within = ((node, other) for node, other in links if node in through and (other in through or other in ends))
    return shortest_paths(within, start, ends)
