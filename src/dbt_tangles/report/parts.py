"""Data of a report's subjects: limits, list entries, drawings, and the lists behind the counts of their facts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dbt_tangles.cli.graph import ASIDE, IN, MISSING

_IsListed = Callable[[dict], bool]


class Limits(NamedTuple):
    """The limits of a report."""

    subjects: int  # The number of the largest subjects of each kind, and of those with the most problems
    nodes: int = 100  # The number of last nodes of each subject


class WhyQuery(NamedTuple):
    """The arguments of `tangles why` for a node."""

    kind: str
    id: str
    only: str | None = None


@dataclass
class Part:
    """A subject: a tangle, feed, set, base, group or timeline."""

    entry: dict  # Its entry in the list of subjects
    view: dict  # Its drawing
    queries: dict[int, WhyQuery]  # The arguments of `tangles why` for nodes of the drawing, by their numbers
    root: str | None = None  # The message whose first words and author name the subject, if there is one
    root_status: str | None = None  # The status of the root of a tangle


@dataclass
class Kind:
    """The subjects of a kind."""

    total: int  # The number of all subjects
    parts: list[Part]  # The subjects that are shown


def queries(view: dict, kind: str, only: str | None = None) -> dict[int, WhyQuery]:
    """Return the arguments of `tangles why` for each node of a drawing that is not missing."""
    return {n: WhyQuery(kind, node["id"], only) for n, node in enumerate(view["nodes"]) if node["state"] != MISSING}


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
