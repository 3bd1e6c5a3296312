"""Lists behind the counts of a subject's facts: numbers of drawn nodes, links, or filters of the search."""

from __future__ import annotations

from collections.abc import Callable

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


def add_lists(view: dict, **is_listed: _IsListed) -> None:
    """Give a drawing `lists`: for each fact, the numbers of the nodes that it counts.

    Args:
        view: The drawing.
        is_listed: For each fact, whether it counts a node; `_` in a fact's name stands for a space.
    """
    view["lists"] = {
        fact.replace("_", " "): [n for n, node in enumerate(view["nodes"]) if counts(node)]
        for fact, counts in is_listed.items()
    }
