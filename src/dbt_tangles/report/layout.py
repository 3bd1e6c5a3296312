"""Computes the layout of a drawing: lanes by author, rows by depth."""

from collections import Counter
from dataclasses import replace

from dbt_tangles.cli.graph import MISSING, Graph, Node, label
from dbt_tangles.cli.lanes import order

#: The lane of missing nodes.
NOT_HERE = "not here"
#: A drawing has at most as many missing nodes as other nodes, plus this number.
_FEW = 20
#: A drawing has at most this many lanes besides that of missing nodes; further authors share the last one.
MOST_LANES = 12


def rows_of(graph: Graph) -> dict[str, int]:
    """Assign a row to each node.

    The row is the node's depth; without a depth, the row below its parents; if the node is missing, the row above its
    children.
    """
    rows = {node.id: node.place for node in graph.nodes if node.place is not None}
    first = min(rows.values(), default=0)
    free = {node.id: (node.id,) for node in graph.nodes if node.id not in rows and node.state != MISSING}
    parents: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.child in free and edge.child != edge.parent:
            parents.setdefault(edge.child, []).append(edge.parent)
    for id_ in reversed(order(free, parents)):
        rows[id_] = 1 + max((rows[parent] for parent in parents.get(id_, ()) if parent in rows), default=first)
    for node in graph.nodes:
        if node.state == MISSING and node.id not in rows:
            below = [rows[edge.child] for edge in graph.edges if edge.parent == node.id and edge.child in rows]
            rows[node.id] = min(below, default=first) - 1
    return rows


def lay_out(graph: Graph, lane_of: dict[str, str], titles: dict[str, str] | None = None) -> dict:
    """Lay out a graph: a lane for each author, with its first column and width; rows, nodes, and edges by number.

    `titles` has the contents of messages, for tooltips.
    """
    missing = [node for node in graph.nodes if node.state == MISSING]
    there = [node for node in graph.nodes if node.state != MISSING]
    # An author may name as many missing ids as fit into a message.
    graph = replace(graph, nodes=[*there, *missing[: len(there) + _FEW]])
    rows = rows_of(graph)
    nodes = sorted(graph.nodes, key=lambda node: (rows[node.id], node.id))
    number = {node.id: n for n, node in enumerate(nodes)}
    lane = {
        node.id: NOT_HERE if node.state == MISSING else lane_of.get(node.id) or "author not known" for node in nodes
    }
    drawn_in = _collapse_lanes(lane)
    lanes, column, columns = _columns(nodes, rows, {id_: drawn_in[name] for id_, name in lane.items()})
    place = {row: n for n, row in enumerate(sorted(set(rows.values())))}
    depths = {rows[node.id]: node.place for node in nodes if node.place is not None}
    cut = Counter(edge.child for edge in graph.edges if edge.parent not in number)
    return {
        "kind": graph.kind,
        "id": graph.id,
        "name": graph.name,
        "total": graph.total,
        "left_out": graph.left_out,
        "missing_left_out": max(0, len(missing) - len(there) - _FEW),
        "columns": columns,
        "lanes": lanes,
        "rows": [depths.get(row) for row in place],
        "nodes": [
            {
                "id": node.id,
                "label": label(node.id),
                "state": node.state,
                "lane": lane[node.id],
                "x": column[node.id],
                "y": place[rows[node.id]],
                "depth": node.place,
                "marks": node.marks,
                "words": node.words,
                "title": (titles or {}).get(node.id),
                "cut": cut[node.id],
            }
            for node in nodes
        ],
        "edges": [
            [number[edge.child], number[edge.parent], edge.kind, edge.is_order]
            for edge in graph.edges
            if edge.parent in number and edge.child in number
        ],
    }


def _collapse_lanes(lane: dict[str, str]) -> dict[str, str]:
    """Return the lane that draws each author's nodes: its own, or beyond 12 authors one for those with few."""
    counts = Counter(name for name in lane.values() if name != NOT_HERE)
    own = {name: name for name in lane.values()}
    if len(counts) <= MOST_LANES:
        return own
    few = [name for name, _ in counts.most_common()[MOST_LANES - 1 :]]
    return own | dict.fromkeys(few, f"{len(few):,} other authors")


def _columns(nodes: list[Node], rows: dict[str, int], lane: dict[str, str]) -> tuple[list[dict], dict[str, int], int]:
    """Assign columns to nodes, sorted by row: those of one lane and row stand side by side.

    Returns:
        The lanes, each with its first column `start` and its `width`; the column of each node; the number of columns.
    """
    cells: Counter[tuple[str, int]] = Counter()
    offset = {}
    for node in nodes:
        cell = (lane[node.id], rows[node.id])
        offset[node.id] = cells[cell]
        cells[cell] += 1
    width: dict[str, int] = {}
    for (name, _), count in cells.items():
        width[name] = max(width.get(name, 0), count)
    names = sorted(width, key=lambda name: name == NOT_HERE)  # A stable sort: lanes stay in row order.
    start, columns = {}, 0
    for name in names:
        start[name] = columns
        columns += width[name]
    lanes = [
        {"name": name[:8] if len(name) == 64 else label(name), "id": name, "start": start[name], "width": width[name]}
        for name in names
    ]
    return lanes, {node.id: start[lane[node.id]] + offset[node.id] for node in nodes}, columns
