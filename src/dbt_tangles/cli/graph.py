"""A graph that is to be shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from dbt_tangles.cli.page import agreeing, listed

#: What a node may be: of the graph; known, and set aside; known to be missing.
IN, ASIDE, MISSING = "in", "aside", "missing"


@dataclass
class Node:
    """A node.

    Attributes:
        id: Its id.
        state: IN, ASIDE or MISSING.
        place: Depth, rank or sequence; None where it has none.
        marks: What it is: root, tip, fork, ...
        words: What else there is to say of it.
    """

    id: str
    state: str = IN
    place: int | None = None
    marks: list[str] = field(default_factory=list)
    words: str = ""


@dataclass
class Edge:
    """A link from a node to what it follows; `is_order` where it belongs to the drawing of lanes."""

    child: str
    parent: str
    kind: str
    is_order: bool = True


@dataclass
class Graph:
    """Nodes, and links between these and to others that were left out.

    Attributes:
        kind: What it is: tangle, feed, set, group, base or timeline.
        id: Its id; of a tangle its root.
        name: Its name, if it has one beside the id.
        total: How many nodes there are, those that are missing left aside.
        nodes: Those that are shown.
        edges: What these follow.
        also: Names of other tangles of the same root that are the same graph.
    """

    kind: str
    id: str
    name: str
    total: int
    nodes: list[Node]
    edges: list[Edge]
    also: list[str] = field(default_factory=list)

    @property
    def all_names(self) -> str:
        """Its names in a list, as text."""
        return listed([self.name, *self.also])

    @property
    def left_out(self) -> int:
        """How many nodes are not shown."""
        return self.total - sum(node.state != MISSING for node in self.nodes)

    def say_left_out(self) -> str:
        """Say how many nodes are not shown, and how more would be."""
        verb = agreeing(self.left_out, "{is|are}")
        return f"{self.left_out:,} of {self.total:,} {verb} left out; --limit shows more"

    def as_dict(self) -> dict:
        """Return it as data."""
        return asdict(self) | {"left_out": self.left_out}


def label(id_: str) -> str:
    """Shorten an id to what `tangles why` takes for it, if nothing else begins so."""
    if (id_[:1], len(id_)) in (("%", 52), ("@", 53)):
        return id_[:9]
    writer, colon, length = id_.rpartition(":")
    if colon and len(writer) == 64:
        return f"{writer[:8]}:{length}"
    return id_[:8] if len(id_) in (43, 44) and id_.isalnum() else id_
