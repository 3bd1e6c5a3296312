"""Draws a graph in lanes, as `git log --graph` does: one node on each line, children above their parents."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

#: The character of a cell by its connections, of which up counts 8, down 4, left 2 and right 1.
_CELLS = " ╶╴─│╭╮┬│╰╯┴│├┤┼"
#: The placeholder of a node, which the caller replaces by a glyph for the node's state.
NODE = "●"
ASCII = str.maketrans("│├┤┼╰╯┴╭╮┬─●○◌⋮…", "|++++++++--*o?:.")


class Row(NamedTuple):
    """A line of the drawing: a node's line, or the links between two nodes' lines (`node` is None)."""

    cells: str
    node: str | None


def order(keys: Mapping[str, tuple], parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Sort the nodes of `keys` topologically, children before parents, depth first (Kahn's algorithm with a stack).

    Among the nodes without remaining children, the greatest key comes first. A cycle is cut at its node with the
    greatest key. Parents that are not in `keys` are ignored.
    """
    children = Counter(parent for node in keys for parent in {*parents.get(node, ())})
    by_key = sorted(keys, key=keys.__getitem__)
    ready = [node for node in by_key if not children[node]]
    done: dict[str, None] = {}
    while len(done) < len(keys):
        while by_key[-1] in done:
            by_key.pop()
        node = ready.pop() if ready else by_key[-1]
        done[node] = None
        free = []
        for parent in dict.fromkeys(parents.get(node, ())):
            children[parent] -= 1
            if parent in keys and parent not in done and not children[parent]:
                free.append(parent)
        ready += reversed(free)
    return [*done]


def draw(nodes: Sequence[str], parents: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """Draw nodes in the order given.

    Links to a node above, which only cycles have, are left out. Lanes to nodes outside the drawing continue to its end.
    """
    lanes: list[str | None] = []
    above: set[str] = set()
    ended = None  # The column of a lane that ended in the line before; a node there would look linked to it.
    for node in nodes:
        above.add(node)
        column = _column(lanes, node, ended)
        lanes[column] = node
        yield Row(" ".join(NODE if at == column else "│" if lane else " " for at, lane in enumerate(lanes)), node)
        before = [lane is not None for lane in lanes]
        lanes[column] = None
        targets = _link(lanes, column, [p for p in dict.fromkeys(parents.get(node, ())) if p not in above])
        if targets:
            yield Row(_links(lanes, before, column, targets), None)
        ended = column if lanes[column] is None and not targets else None
        while lanes and lanes[-1] is None:
            lanes.pop()
    if lanes:
        yield Row(" ".join("⋮" if lane else " " for lane in lanes), None)


def _column(lanes: list[str | None], node: str, closed: int | None = None) -> int:
    """Find the lane that leads to a node, or a free lane other than `closed`."""
    if node in lanes:
        return lanes.index(node)
    free = [at for at, lane in enumerate(lanes) if lane is None and at != closed]
    if free:
        return free[0]
    lanes += [None] * (1 + (len(lanes) == closed))
    return len(lanes) - 1


def _link(lanes: list[str | None], column: int, parents: list[str]) -> list[int]:
    """Give each parent a lane; return the lanes other than the node's own."""
    own = next((parent for parent in parents if parent not in lanes), None)
    lanes[column] = own
    targets = []
    for parent in parents:
        if parent != own:
            target = _column(lanes, parent)
            lanes[target] = parent
            targets.append(target)
    return targets


def _links(lanes: list[str | None], before: list[bool], column: int, targets: list[int]) -> str:
    first, last = min(column, *targets), max(column, *targets)
    cells = []
    for at, lane in enumerate(lanes):
        was_there = at < len(before) and before[at]
        if at == column or at in targets:
            cell = _CELLS[8 * was_there + 4 * (lane is not None) + 2 * (at > first) + (at < last)]
        elif first < at < last and not lane:
            cell = "─"
        else:  # The links pass behind this lane.
            cell = "│" if lane else " "
        cells.append(cell + ("─" if first <= at < last else " "))
    return "".join(cells).rstrip()
