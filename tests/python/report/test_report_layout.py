"""The layout of drawings; the edits that are played, and the order from which they start."""

import random

import pytest

from dbt_tangles.cli.graph import ASIDE, IN, MISSING, Edge, Graph, Node
from dbt_tangles.report.layout import NOT_HERE, lay_out, rows_of
from dbt_tangles.report.timelines import undo, window


def graph(nodes, links):
    return Graph("tangle", "r", "t", len(nodes), nodes, [Edge(*link, "previous") for link in links])


def test_rows():
    nodes = [Node("r", IN, 5), Node("a", IN, 6), Node("x", ASIDE), Node("y", ASIDE), Node("gone", MISSING)]
    rows = rows_of(graph(nodes, [("a", "r"), ("x", "a"), ("x", "gone"), ("y", "x")]))
    assert rows == {"r": 5, "a": 6, "x": 7, "y": 8, "gone": 6}


def test_cycles_end():
    nodes = [Node("r", IN, 0), Node("x", ASIDE), Node("y", ASIDE), Node("z", ASIDE), Node("self", ASIDE)]
    rows = rows_of(graph(nodes, [("x", "y"), ("y", "x"), ("z", "y"), ("self", "self")]))
    assert set(rows) == {"r", "x", "y", "z", "self"}


def test_long_chains():
    nodes = [Node(str(n), ASIDE) for n in range(2000)]
    rows = rows_of(graph(nodes, [(str(n + 1), str(n)) for n in range(1999)]))
    assert rows["1999"] - rows["0"] == 1999


def test_no_two_nodes_share_a_place():
    nodes = [Node(f"n{n}", IN, n // 5) for n in range(40)]
    view = lay_out(graph(nodes, []), {f"n{n}": f"author{n % 3}" for n in range(40)})
    places = {(node["x"], node["y"]) for node in view["nodes"]}
    assert len(places) == 40 and max(x for x, _ in places) < view["columns"]
    for node in view["nodes"]:
        (lane,) = [lane for lane in view["lanes"] if lane["id"] == node["lane"]]
        assert lane["start"] <= node["x"] < lane["start"] + lane["width"]


def test_links_to_left_out_nodes_are_counted():
    view = lay_out(graph([Node("a", IN, 6)], [("a", "b"), ("a", "c")]), {})
    assert view["edges"] == [] and view["nodes"][0]["cut"] == 2


def test_missing_nodes_are_bounded():
    """A message may name many missing ids; the drawing limits them and counts the links left out."""
    gone = [Node(f"gone{n}", MISSING) for n in range(1000)]
    view = lay_out(graph([Node("a", IN, 6), *gone], [("a", node.id) for node in gone]), {})
    assert len(view["nodes"]) == 22 and view["missing_left_out"] == 979
    assert next(node for node in view["nodes"] if node["id"] == "a")["cut"] == 979


def test_lanes_beyond_twelve_collapse():
    """Eleven authors with the most nodes keep their lanes; the others share one, and missing nodes have their own."""
    authors = [f"@{n:02}" for n in range(30)]
    sizes = {author: 1 + (n < 11) for n, author in enumerate(authors)}
    names = {f"{author}.{n}": author for author in authors for n in range(sizes[author])}
    nodes = [Node(id_, IN, int(id_[-1])) for id_ in names] + [Node("gone", MISSING)]
    view = lay_out(graph(nodes, [("@00.0", "gone")]), names)
    assert [lane["name"] for lane in view["lanes"]] == [*authors[:11], "19 other authors", NOT_HERE]
    shared = view["lanes"][-2]
    for node in view["nodes"]:
        if node["lane"] in authors[11:]:
            assert shared["start"] <= node["x"] < shared["start"] + shared["width"] == shared["start"] + 19
    assert len({(node["x"], node["y"]) for node in view["nodes"]}) == len(nodes)
    twelve = lay_out(graph([Node(author, IN, 0) for author in authors[:12]], []), {a: a for a in authors})
    assert [lane["name"] for lane in twelve["lanes"]] == authors[:12]


def edit(batch, op, event, to, came_from=None):
    return {"batch": batch, "op": op, "event_id": event, "from_position": came_from, "to_position": to}


def stream(seed: int, count: int) -> tuple[list[dict], list[str]]:
    """Draw random commands, some in batches of two, and the order that they produce."""
    rng, order, edits = random.Random(seed), [], []
    for n in range(count):
        to = max(0, len(order) - rng.choice((0, 0, 0, 1, 5)))
        order.insert(to, f"e{n}")
        edits.append(edit(n + 1, "ins", f"e{n}", to))
        if rng.random() < 0.3:
            came_from = rng.randrange(max(0, len(order) - 6), len(order))
            event = order.pop(came_from)
            to = rng.randrange(max(0, len(order) - 6), len(order) + 1)
            order.insert(to, event)
            edits.append(edit(n + 1, "mov", event, to, came_from))
    return edits, order


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [5, 20, 1000])
def test_the_replay_ends_in_the_published_order(seed, most):
    edits, order = stream(seed, 40)
    played, low = window(edits[::-1], len(order), most)
    assert played == edits[len(edits) - len(played) :] and len(order) - low <= most
    now = undo(order[low:], played, low)
    if most == 1000:
        assert now == [] and low == 0
    for each in played:
        if each["op"] == "mov":
            assert now.pop(each["from_position"] - low) == each["event_id"]
        now.insert(each["to_position"] - low, each["event_id"])
    assert now == order[low:]


def test_a_batch_that_touches_too_much():
    edits = [edit(2, "ins", "z", 9), edit(1, "mov", "a", 5, 0)]
    assert window(edits, 10, 3) == ([edits[0]], 9)
    assert window(edits[1:], 10, 3) == ([], 10)


def test_edits_of_another_run():
    assert undo(["a", "b"], [edit(1, "ins", "a", 1)], 0) is None
    assert undo(["a"], [edit(1, "ins", "a", 7)], 0) is None
