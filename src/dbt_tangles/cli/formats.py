"""Writes graphs as Graphviz dot and as Mermaid; texts of a log are escaped within labels."""

import re

from dbt_tangles.cli.graph import ASIDE, IN, MISSING, Graph, Node, label
from dbt_tangles.cli.page import escape_line

_DASHED = {"supersedes", "redundant", "lipmaa"}
_HARMLESS = re.compile(r"[^\w .,:/%@+=()-]", re.ASCII)


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
        lines.append(f'  n{numbers[node.id]}{left}"{_escaped(_label(node))}"{right}')
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


def _escaped(text: str) -> str:
    """Replace characters with a meaning in Mermaid or HTML by character codes."""
    return _HARMLESS.sub(lambda match: f"#{ord(match[0])};", text)
