"""Lists behind the counts of a subject's facts: numbers of drawn nodes, links, or filters of the search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dbt_tangles.cli.graph import ASIDE, IN

_IsListed = Callable[[dict], bool]


def mark(name: str) -> _IsListed:
    """Return whether a node has a mark."""
    return lambda node: name in node["marks"]


def is_in(node: dict) -> bool:
    """Whether a node is part of the graph."""
    return node["state"] == IN


def is_aside(node: dict) -> bool:
    """Whether a node is set aside or rejected."""
    return node["state"] == ASIDE


def one_by(nodes: list[dict], numbers: Iterable[int], field: str) -> list[int]:
    """Return the number of one node for each value of a field, in the order of the values' first nodes."""
    return [*{nodes[n][field]: n for n in numbers if nodes[n][field] is not None}.values()]


def add_lists(view: dict, **is_listed: _IsListed) -> None:
    """Give a drawing `lists`: for each fact, whose name has `_` for spaces, the numbers of the nodes that it counts."""
    view["lists"] = {
        fact.replace("_", " "): [n for n, node in enumerate(view["nodes"]) if counts(node)]
        for fact, counts in is_listed.items()
    }
