"""Writes graphs for a terminal, as Graphviz dot and as Mermaid; texts of a log are escaped."""

import re

from dbt_tangles.cli import text
from dbt_tangles.cli.graph import ASIDE, IN, MISSING, Graph, Node, label
from dbt_tangles.cli.lanes import ASCII, NODE, draw, order
from dbt_tangles.cli.page import BAD, DIM, ID, STRONG, Page, escape_line

_GLYPHS = {"in": NODE, "aside": "○", "missing": "◌"}
_WIDEST = 60
_DASHED = {"supersedes", "redundant", "lipmaa"}
#: Characters that may have a meaning in Mermaid or HTML.
_SPECIAL = re.compile(r"[^\w .,:/%@+=()-]", re.ASCII)


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
    if graph.fields:
        text.write(page, "fields", {"fields": graph.fields})


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


def dot(graph: Graph) -> str:
    """Write a graph for Graphviz."""
    title = escape_line(" ".join(filter(None, (graph.kind, graph.all_names, graph.id))))
    lines = [f"digraph {_quoted(title)} {{", "  rankdir=BT;", '  node [shape=box, fontname="monospace"];']
    numbers = _numbers(graph)
    looks = {IN: "", ASIDE: ", style=dashed, fontcolor=gray", MISSING: ", style=dotted, fontcolor=red"}
    for node in graph.nodes:
        lines.append(f"  n{numbers[node.id]} [label={_quoted(_label(node))}{looks[node.state]}];")
    lines += [f'  n{number} [label="...", shape=plaintext];' for _, number in _others(graph, numbers)]
    for edge in graph.edges:
        look = " [style=dashed]" if edge.kind in _DASHED else ""
        lines.append(f"  n{numbers[edge.child]} -> n{numbers[edge.parent]}{look};")
    return "\n".join([*lines, "}"])


def mermaid(graph: Graph) -> str:
    """Write a graph for Mermaid."""
    numbers = _numbers(graph)
    lines = ["flowchart BT"]
    for node in graph.nodes:
        left, right = {IN: ("[", "]"), ASIDE: ("([", "])"), MISSING: ("{{", "}}")}[node.state]
        words = _SPECIAL.sub(lambda match: f"#{ord(match[0])};", _label(node))
        lines.append(f'  n{numbers[node.id]}{left}"{words}"{right}')
    lines += [f'  n{number}["..."]' for _, number in _others(graph, numbers)]
    for edge in graph.edges:
        arrow = "-.->" if edge.kind in _DASHED else "-->"
        lines.append(f"  n{numbers[edge.child]} {arrow} n{numbers[edge.parent]}")
    return "\n".join(lines)


def _numbers(graph: Graph) -> dict[str, int]:
    """Number the nodes, then the linked nodes that were left out."""
    ids = [*(node.id for node in graph.nodes), *(edge.parent for edge in graph.edges)]
    return {id_: number for number, id_ in enumerate(dict.fromkeys(ids))}


def _others(graph: Graph, numbers: dict[str, int]) -> list[tuple[str, int]]:
    return [*numbers.items()][len({node.id for node in graph.nodes}) :]


def _label(node: Node) -> str:
    return escape_line(" ".join([label(node.id), *node.marks, node.words]).strip())


def _quoted(text: str) -> str:
    """Quote a text for dot; backslashes and quotes are escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
