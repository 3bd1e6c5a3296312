"""Drawings in lanes: links that are read back from a drawing equal those of the graph."""

from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.cli.lanes import draw, order
from lanes_reader import read


@st.composite
def graphs(draw_):
    """Draw nodes whose parents are earlier nodes or missing."""
    size = draw_(st.integers(1, 14))
    parents = {}
    for number in range(size):
        known = draw_(st.lists(st.integers(0, number - 1), max_size=5)) if number else []
        lost = draw_(st.lists(st.sampled_from(["x", "y"]), max_size=1))
        parents[f"n{number}"] = [f"n{each}" for each in known] + lost
    return parents


@given(graphs())
def test_the_drawing_has_the_links_of_the_graph(parents):
    keys = {node: (0, node) for node in parents}
    nodes = order(keys, parents)
    assert sorted(nodes) == sorted(parents)
    place = {node: at for at, node in enumerate(nodes)}
    links = {(node, parent) for node in parents for parent in parents[node]}
    within = {link for link in links if link[1] in parents}
    assert all(place[child] < place[parent] for child, parent in within)
    drawn, going_on = read(list(draw(nodes, parents)))
    # An isolated node has no line; all other lines end at their nodes.
    assert drawn == within
    assert going_on == {child for child, parent in links if parent not in parents}


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcde"), max_size=3)))
def test_cycles_are_cut_and_drawn(parents):
    nodes = order({node: (node,) for node in parents}, parents)
    assert sorted(nodes) == sorted(parents)
    assert [row.node for row in draw(nodes, parents) if row.node] == nodes


def picture(parents: dict[str, str]) -> str:
    keys = {node: (node,) for node in parents}
    rows = draw(order(keys, parents), parents)
    return "\n".join(f"{row.cells} {row.node}" if row.node else row.cells for row in rows)


def test_an_unlinked_node_has_a_lane_of_its_own():
    """A node in the column of a lane that just ended would look linked to it."""
    assert picture({"a": "", "b": "", "c": ""}) == "● c\n  ● b\n● a"


def test_lanes_to_nodes_outside_the_drawing_continue():
    assert picture({"a": "xy"}) == "● a\n├─╮\n⋮ ⋮"
