"""The graph of a tangle, feed, set, group, base or timeline: nodes, edges and labels."""

from dataclasses import asdict, dataclass, field

from dbt_tangles.cli.page import inflect, join_names

#: The states of a node: part of the graph; set aside or rejected; missing from the log.
IN, ASIDE, MISSING = "in", "aside", "missing"


@dataclass
class Node:
    """A node."""

    id: str  # Its id
    state: str = IN  # IN, ASIDE or MISSING
    place: int | None = None  # Its depth, rank or sequence, if any
    marks: list[str] = field(default_factory=list)  # Its marks: root, tip, fork,
    words: str = ""  # Further text about it


@dataclass
class Edge:
    """A link from a node to a node that it follows; `is_order` is true if lanes draw it."""

    child: str
    parent: str
    kind: str
    is_order: bool = True


@dataclass
class Graph:
    """The last nodes of a graph, and the links from them, also to nodes that were left out."""

    kind: str  # Its kind: tangle, feed, set, group, base or timeline
    id: str  # Its id; for a tangle the root's id
    name: str  # Its name; empty if the kind has only ids
    total: int  # The number of all its nodes, without missing ones
    nodes: list[Node]  # The nodes that are shown
    edges: list[Edge]  # The links from the shown nodes
    also: list[str] = field(default_factory=list)  # The names of duplicate tangles on the same root
    fields: list[dict] = field(default_factory=list)  # The fields of a record; empty for other graphs

    @property
    def all_names(self) -> str:
        """The names, joined for a sentence."""
        return join_names([self.name, *self.also])

    @property
    def left_out(self) -> int:
        """The number of nodes that are not shown."""
        return self.total - sum(node.state != MISSING for node in self.nodes)

    def left_out_note(self) -> str:
        """Write the number of nodes that are not shown, and the option that shows more."""
        verb = inflect(self.left_out, "{is|are}")
        return f"{self.left_out:,} of {self.total:,} nodes {verb} left out; --limit shows more"

    def as_dict(self) -> dict:
        """Return the graph as a dict."""
        return asdict(self) | {"left_out": self.left_out}


def label(id_: str) -> str:
    """Shorten an id to a prefix that `tangles why` accepts, if the prefix is unique."""
    if (id_[:1], len(id_)) in (("%", 52), ("@", 53)):
        return id_[:9]
    writer, colon, length = id_.rpartition(":")
    if colon and len(writer) == 64:
        return f"{writer[:8]}:{length}"
    return id_[:8] if len(id_) in (43, 44) and id_.isalnum() else id_
