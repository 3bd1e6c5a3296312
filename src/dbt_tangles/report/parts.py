"""Data classes of a report: its limits, and the list entry and drawing of each subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dbt_tangles.cli.graph import MISSING


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
    """A subject: a tangle, feed, set, base, group or timeline.

    Attributes:
        entry: Its entry in the list of subjects.
        view: Its drawing.
        queries: The arguments of `tangles why` for each node of the drawing, by the node's number.
        root: The message whose first words and author name the subject, if there is one.
        root_status: The status of the root of a tangle.
    """

    entry: dict
    view: dict
    queries: dict[int, WhyQuery]
    root: str | None = None
    root_status: str | None = None


@dataclass
class Kind:
    """The subjects of a kind."""

    total: int  # The number of all subjects
    parts: list[Part]  # The subjects that are shown


def queries(view: dict, kind: str, only: str | None = None) -> dict[int, WhyQuery]:
    """Return the arguments of `tangles why` for each node of a drawing that is not missing."""
    return {n: WhyQuery(kind, node["id"], only) for n, node in enumerate(view["nodes"]) if node["state"] != MISSING}
