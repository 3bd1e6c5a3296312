"""Prints a graph on a terminal: its lanes, and the marks and words of each node."""

from dbt_tangles.cli.graph import IN, MISSING, Graph, Node, label
from dbt_tangles.cli.lanes import ASCII, NODE, draw, order
from dbt_tangles.cli.page import BAD, DIM, ID, STRONG, Page
from dbt_tangles.cli.record import write_fields

_GLYPHS = {"in": NODE, "aside": "○", "missing": "◌"}
_WIDEST = 60


def write(page: Page, graph: Graph) -> None:
    """Print a graph and the number of nodes that were left out; links that lanes cannot draw appear in words."""
    page.line((f"{graph.kind} ", STRONG), *([f"{graph.all_names} "] if graph.name else []), (graph.id, ID))
    nodes = {node.id: node for node in graph.nodes}
    parents: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.is_order and edge.child in nodes:
            parents.setdefault(edge.child, []).append(edge.parent)
    keys = {id_: (node.state == IN, node.place or 0, id_) for id_, node in nodes.items()}
    lines = order(keys, parents)
    above: set[str] = set()
    for row in draw(lines, parents):
        if row.node is None:
            page.line((_cells(page, row.cells), DIM))
            continue
        above.add(row.node)
        back = [parent for parent in parents.get(row.node, ()) if parent in above]
        _write_node(page, nodes[row.node], row.cells, graph, back)
    if graph.left_out:
        page.line((graph.left_out_note(), DIM))
    write_fields(page, graph.fields)


def _cells(page: Page, cells: str) -> str:
    if len(cells) > _WIDEST:
        cells = cells[: _WIDEST - 1] + "…"
    return cells if page.is_unicode else cells.translate(ASCII)


def _write_node(page: Page, node: Node, cells: str, graph: Graph, back: list[str]) -> None:
    glyph = _GLYPHS[node.state]
    before, _, after = cells.partition(NODE)
    style = {"in": "", "aside": DIM, "missing": BAD}[node.state]
    pieces = [(before, DIM), (glyph, style or STRONG), (after, DIM)]
    if len(cells) > _WIDEST:
        pieces = [(cells[: _WIDEST - 1] + "…", DIM), (glyph, style)]
    drawn = [(piece if page.is_unicode else piece.translate(ASCII), look) for piece, look in pieces]
    also = [edge for edge in graph.edges if edge.child == node.id and not edge.is_order]
    words = [f" {mark}" for mark in node.marks] + ([f" {node.words}"] if node.words else [])
    words += [f" {edge.kind} {label(edge.parent)}" for edge in also]
    words += [f" follows {label(id_)} in a cycle" for id_ in back]
    page.line(
        *drawn,
        " ",
        (label(node.id), style if node.state == MISSING else DIM if style else ID),
        *[(word, style or (STRONG if word.strip() in node.marks else "")) for word in words],
    )
