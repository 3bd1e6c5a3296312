"""`tangles show`: each kind of graph, in each format, within the limit."""

import re

import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse
from cli_story import A1, A2, B1, B2, GONE
from dbt_tangles.cli import drawings, graphs
from dbt_tangles.cli.graph import Edge, Graph, Node, label
from dbt_tangles.cli.tables import Tables


@pytest.fixture
def warehouse(tmp_path):
    return story.write(tmp_path / "wh")


def links(answer: dict) -> set[tuple[str, str]]:
    return {(edge["child"], edge["parent"]) for edge in answer["edges"]}


def states(answer: dict) -> dict[str, str]:
    return {node["id"]: node["state"] for node in answer["nodes"]}


@pytest.mark.parametrize("given", [story.ROOT, "%roo", f"thread:{story.ROOT}", "thread:%r", "ssb:message/classic/root"])
def test_a_tangle(warehouse, given):
    answer = warehouse.json("show", given)
    assert (answer["kind"], answer["name"], answer["total"], answer["left_out"]) == ("tangle", "thread", 5, 0)
    assert states(answer) == dict.fromkeys((story.ROOT, A1, A2), "in") | {B1: "aside", B2: "aside", GONE: "missing"}
    assert links(answer) == {(A1, story.ROOT), (A2, A1), (B1, GONE), (B2, B1)}


def test_in_the_terminal(warehouse):
    lines = warehouse.ask("show", "%root").stdout.splitlines()
    assert lines[0] == f"tangle thread {story.ROOT}"
    names = [label(id_) for id_ in (A2, A1, story.ROOT, B2, B1, GONE)]
    assert [line.split()[1] for line in lines[1:7]] == names
    assert lines[1] == f"● {names[0]} tip by {story.ALICE}" and lines[5].endswith("missing_previous")
    assert lines[6].endswith("not in the log") and "root" in lines[3]


def test_concurrent_messages_are_shown_side_by_side(tmp_path):
    """Thread A to E, section 2: C and D stand side by side, and D stands behind C by convention."""
    warehouse = story.write_diamond(tmp_path / "wh")
    words = {node["id"]: node["words"] for node in warehouse.json("show", "%a")["nodes"]}
    by = f"by {story.ALICE}"
    c, d = story.DIAMOND[2:4]
    assert words == dict.fromkeys(story.DIAMOND, by) | {
        c: f"{by}, concurrent with 1",
        d: f"{by}, concurrent with 1, tie with {label(c)}",
    }


def test_the_limit(warehouse):
    answer = warehouse.json("show", "%root", "--limit", "2")
    assert list(states(answer).values()).count("missing") == 0 and answer["left_out"] == 3
    assert states(answer) == {A2: "in", A1: "in"}
    text = warehouse.ask("show", "%root", "--limit", "2").stdout
    assert "3 of 5 nodes are left out" in text and "⋮" in text
    assert states(warehouse.json("show", "%root", "--limit", "4"))[B2] == "aside"
    dot = warehouse.ask("show", "%root", "--limit", "2", "--format", "dot")
    assert 'label="..."' in dot.stdout and "3 of 5 nodes are left out" in dot.stderr
    assert warehouse.ask("show", "%root", "--limit", "0").exit_code == 2


def test_a_feed_that_is_broken(tmp_path):
    answer = story.write_broken_feed(Warehouse(tmp_path / "wh")).json("show", "@carol")
    nodes = {node["id"]: node for node in answer["nodes"]}
    assert {id_ for id_, node in nodes.items() if node["state"] == "in"} == {story.C1}
    assert nodes[story.C1]["marks"] == ["root", "tip", "fork"] and nodes[story.C2]["words"] == "2, forked"
    assert (nodes[story.C6]["state"], nodes[story.C6]["place"]) == ("missing", 6)
    assert nodes[story.C6]["words"] == "4 to 6 are not in the log"
    assert nodes[A1]["words"] == "not a message of this feed" and answer["left_out"] == 0
    assert links(answer) >= {(story.C2, story.C1), (story.C2B, story.C1), (story.C7, story.C6), (story.ELSEWHERE, A1)}


def test_a_feed_shown_in_part_has_no_false_gaps(tmp_path):
    warehouse = story.write_broken_feed(Warehouse(tmp_path / "wh"))
    answer = warehouse.json("show", "@carol", "--limit", "1")
    assert [(node["id"], node["state"]) for node in answer["nodes"]][:1] == [(story.ELSEWHERE, "aside")]
    graph = graphs.feed(Tables(warehouse.root, "tangles"), "", story.CAROL, 2, until=3)
    assert {node.id: node.state for node in graph.nodes} == {story.C3: "aside", story.C2B: "aside"}
    assert graph.left_out == 5


def test_a_base(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    a, b, c = (f"{letter * 64}:1" for letter in "abc")
    warehouse.write("autobase_bases", {"base_id": "x"}, {"base_id": "xy"})
    nodes = [(a, 0, False), (b, 1, True)]
    warehouse.fill("autobase_nodes", "node_id depth is_head", *nodes, base_id="x", role="indexing", is_ack=False)
    warehouse.write("autobase_rejects", *[{"base_id": "x", "node_id": c, "reason": "missing_head"}] * 2)
    links = [(b, a, True, False), (c, "gone:1", False, False), (a, "old:1", False, True)]
    warehouse.fill("autobase_links", "node_id head_id is_known is_before_start", *links, base_id="x", kind="head")
    views = [(a, 0, True), (b, 1, False)]
    warehouse.fill("autobase_views", "node_id position is_confirmed", *views, base_id="x", observer="all")
    warehouse.write("autobase_unsettled", {"base_id": "x", "node_id": b, "reason": "needs_votes"})
    answer = warehouse.json("show", "x")
    assert states(answer) == {a: "in", b: "in", c: "aside", "gone:1": "missing", "old:1": "missing"}
    assert answer["total"] == 3
    text = warehouse.ask("show", "x").stdout
    assert "bbbbbbbb:1 head indexing, position 1, not settled, needs votes" in text
    assert "aaaaaaaa:1 indexing, position 0, settled" in text and "old:1 older than this log" in text


def test_a_timeline(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.write("timeline_stats", {"timeline_id": "t", "event_count": 3})
    warehouse.fill(
        "timeline_events",
        "event_id rank position author is_tie_broken left_out_causes",
        ("one", 0, 0, None, False, None),
        ("two", 1, 1, "x", False, None),
        ("three", 1, 2, None, True, ["x"]),
        timeline_id="t",
        is_tip=False,
        latest_rank=1,
    )
    causes = [("one", True), ("lost", False)]
    warehouse.fill("timeline_links", "cause_id is_known", *causes, timeline_id="t", event_id="two", kind="given")
    answer = warehouse.json("show", "t")
    assert links(answer) == {("two", "one"), ("two", "lost")} and states(answer)["lost"] == "missing"
    words = {node["id"]: node["words"] for node in answer["nodes"] if node["state"] == "in"}
    assert words == {
        "one": "position 0, free from rank 0 to 1",
        "two": "position 1, by x",
        "three": "position 2, tie with position 1, 1 cause left out",
    }


def test_tables_that_are_not_there(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    result = warehouse.ask("show", "x")
    assert result.exit_code == 2 and "no table with graphs is built" in result.stderr
    warehouse.write("sets", {"set_id": "y"})
    result = warehouse.ask("show", "x")
    assert result.exit_code == 1 and "tangles is not built; build it" in result.stderr


def test_a_name_that_the_root_does_not_have(warehouse):
    result = warehouse.ask("show", "thred:%roo")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1] == f"tangles on this root: thread:{story.ROOT}"
    assert "on this root" not in warehouse.ask("show", "thread:%nobody").stderr


def test_ambiguous_ids_list_all_meanings(warehouse):
    assert warehouse.ask("show", "%nobody").exit_code == 1
    tangle = {"tangle_name": "other", "root_id": story.ROOT, "root_status": "present"}
    warehouse.write("tangles", tangle, {**tangle, "tangle_name": "thread"}, {**tangle, "tangle_name": "ssb:feed"})
    result = warehouse.ask("show", "%root")
    assert result.exit_code == 2
    assert f"other:{story.ROOT} --kind tangle" in result.stderr and "feed" not in result.stderr
    assert warehouse.json("show", "thread:%root")["name"] == "thread"
    warehouse.write("timeline_stats", {"timeline_id": f"thread:{story.ROOT}"})
    assert warehouse.json("show", "thread:%root")["kind"] == "tangle"
    assert warehouse.json("show", "thread:%root", "--kind", "timeline")["kind"] == "timeline"
    assert warehouse.ask("show", "%root", "--kind", "feed").exit_code == 1


HOSTILE_GRAPH = Graph(
    "tangle",
    HOSTILE,
    HOSTILE,
    2,
    [Node('a"]; x -> y; "', words='<script>"\\'), Node(HOSTILE, "aside", words=HOSTILE)],
    [Edge('a"]; x -> y; "', HOSTILE, "previous"), Edge(HOSTILE, "end }", "supersedes")],
)


def test_dot_of_hostile_names():
    text = drawings.dot(HOSTILE_GRAPH)
    assert all(c == "\n" or c.isprintable() for c in text)
    strings = r'"(?:[^"\\]|\\.)*"'
    line = rf"n\d+ \[label={strings}(, [\w=, ]+)?\];|n\d+ -> n\d+( \[style=dashed\])?;"
    head, *body, end = text.splitlines()
    assert re.fullmatch(rf"digraph {strings} {{", head) and end == "}"
    assert [each for each in body[2:] if not re.fullmatch(f"  ({line})", each)] == []


def test_mermaid_of_hostile_names():
    head, *body = drawings.mermaid(HOSTILE_GRAPH).splitlines()
    text = r'"([\w .,:/%@+=()-]|#\d+;)*"'
    line = rf"  n\d+(\[{text}\]|\(\[{text}\]\)|\{{\{{{text}\}}\}}| (-->|-\.->) n\d+)"
    assert head == "flowchart BT" and [each for each in body if not re.fullmatch(line, each)] == []


def test_terminals_that_have_no_boxes(warehouse, monkeypatch):
    from dbt_tangles.cli.page import Page

    monkeypatch.setattr(Page, "is_unicode", False)
    assert warehouse.ask("show", "%root", "--limit", "4").stdout.isascii()


def test_labels_are_prefixes():
    for id_ in (A1, "f" * 64 + ":12", "7" * 44, "7" * 43):
        writer, _, _ = label(id_).partition(":")
        assert id_.startswith(writer) and len(label(id_)) < 20
    assert label("figure_2") == "figure_2"


def test_wide_graphs_fit_the_terminal(tmp_path):
    roots = [story.sigil(f"r{n:03}") for n in range(80)]
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("tangle_messages", *(story.candidate(id_, "x", 1) for id_ in roots), story.candidate(A1, "x", 2))
    warehouse.write("tangle_edges", *(story.edge(A1, id_, True) for id_ in roots))
    result = warehouse.ask("show", "%root", "--limit", "100")
    assert max(map(len, result.stdout.splitlines())) < 110
