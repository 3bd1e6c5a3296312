"""The command `tangles` on the built fixtures: its answers equal the figures and statements of the documents."""

import base64
import io
import json
import re
from collections import Counter
from itertools import pairwise

import pytest

import fixture_seeds
from answer_schemas import validate
from cli_kit import tangles
from dbt_tangles.cli import drawings, graphs, log_places
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.lanes import draw, order
from dbt_tangles.cli.page import Page
from dbt_tangles.cli.pasted_ids import as_sigil
from dbt_tangles.cli.tables import Tables
from dbt_tangles.why import line, message, node, pzp
from lanes_reader import read


@pytest.fixture(scope="module")
def tables(fixtures) -> Tables:
    return Tables(fixtures.warehouse, fixtures.schema)


def test_a_public_folder_holds_parquet_files_only(tables):
    """Polars refuses a folder with files of two kinds."""
    assert {file.suffix for folder in tables.folders() for file in folder.rglob("*")} == {".parquet"}


@pytest.fixture
def ask(fixtures):
    def run(*words: str) -> tuple[int, dict]:
        options = ["--warehouse", str(fixtures.warehouse), "--schema", fixtures.schema, "--json"]
        result = tangles(words[0], *options, *words[1:])
        assert result.exit_code in (0, 1), result.output
        return result.exit_code, validate(json.loads(result.stdout))

    return run


def ids_of(system: str, kind: str) -> dict[tuple[str, str], str]:
    return {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names(system, kind)}


SSB, PZP = ids_of("ssb", "message"), ids_of("pzp", "message")
WRITERS = ids_of("autobase", "writer")


def node_id(example: str, name: str) -> str:
    """Return the id of a node that the document names by the letter of its writer and a number from 0."""
    return f"{WRITERS[example, name[0]]}:{int(name[1:]) + 1}"


def drawn(graph) -> set[tuple[str, str]]:
    return {(edge.child, edge.parent) for edge in graph.edges}


# ---------------------------------------------------------------------------------------------------------------------
# Figures


EDGES = fixture_seeds.expected("ssb", "tangle_edges")


@pytest.mark.parametrize("example", sorted({row["example"] for row in EDGES}))
def test_figures_of_tangles(tables, example):
    rows = [row for row in EDGES if row["example"] == example]
    for name, root in sorted({(row["tangle_name"], row["root"]) for row in rows}):
        graph = graphs.tangle(tables, name, SSB[example, root], 1000)
        members = {node.id for node in graph.nodes if node.state == "in"}
        expected = {
            (SSB[example, row["message"]], SSB[example, row["previous"]])
            for row in rows
            if (row["tangle_name"], row["root"]) == (name, root)
        }
        assert {link for link in drawn(graph) if link[0] in members} == expected


LINKS = fixture_seeds.expected("pzp", "set_links")


@pytest.mark.parametrize("example", sorted({row["example"] for row in LINKS}))
def test_figures_of_sets(tables, example):
    (root,) = {
        row["set_id"]
        for row in tables.rows("select set_id, message_id from set_messages where is_root")
        if row["message_id"] in {PZP[key] for key in PZP if key[0] == example}
    }
    graph = graphs.set_(tables, "", root, 1000)
    expected = {
        (PZP[example, row["letter"]], PZP.get((example, row["other"]), row["other"]), row["kind"])
        for row in LINKS
        if row["example"] == example
    }
    assert {(edge.child, edge.parent, edge.kind) for edge in graph.edges} == expected


FEEDS = fixture_seeds.expected("ssb", "feed_messages")
AUTHORS = ids_of("ssb", "feed")


@pytest.mark.parametrize("example", sorted({row["example"] for row in FEEDS}))
def test_figures_of_feeds(tables, example):
    """Each message is in the chain, or off the chain for the reason that the document states."""
    for author in sorted({row["author"] for row in FEEDS if row["example"] == example}):
        rows = [row for row in FEEDS if (row["example"], row["author"]) == (example, author)]
        graph = graphs.feed(tables, "", AUTHORS[example, author], 1000)
        shown = {node.id: (node.state == "in", node.words) for node in graph.nodes if node.state != "missing"}
        assert shown == {
            SSB[example, row["message"]]: (
                row["in_chain"] == "true",
                ", ".join(filter(None, [row["sequence"], row["reason"]])),
            )
            for row in rows
        }
        previous = {(SSB[example, row["message"]], SSB[example, row["previous"]]) for row in rows if row["previous"]}
        assert drawn(graph) >= previous


NODES = fixture_seeds.expected("autobase", "autobase_nodes")


@pytest.mark.parametrize("example", sorted({row["example"] for row in NODES}))
def test_figures_of_bases(tables, example):
    """The nodes equal those of the document; used nodes do not follow a head of the document."""
    graph = graphs.base(tables, "", example, 1000)
    rows = [row for row in NODES if row["example"] == example]
    used = {node.id for node in graph.nodes if node.state == "in"}
    assert used == {node_id(example, row["node"]) for row in rows}
    heads = {node.id for node in graph.nodes if "head" in node.marks}
    assert heads == {node_id(example, row["node"]) for row in rows if row["is_head"] == "true"}
    assert not heads & {parent for child, parent in drawn(graph) if child in used}
    follows = {link for link in drawn(graph) if link[0] in used}
    assert follows == {link for link in links_in_log(example) if link[0] in used}


def links_in_log(base: str) -> set[tuple[str, str]]:
    """Return the links that the lines of a base state: to heads, and to the previous node of the writer's log."""
    links = set()
    for row in fixture_seeds.log("autobase"):
        try:
            line = json.loads(base64.b64decode(row["raw_base64"]))
            if line["base"] != base or "writer" not in line:
                continue
            node = f"{line['writer']}:{line['length']}".lower()
            links |= {(node, f"{writer}:{length}".lower()) for writer, length in line["heads"]}
            if line["length"] > 1:
                links.add((node, f"{line['writer']}:{line['length'] - 1}".lower()))
        except (ValueError, KeyError, TypeError):
            continue  # The line is unusable.
    return links


CAUSES = fixture_seeds.expected("events", "timeline_links")


@pytest.mark.parametrize("timeline", sorted({row["example"] for row in CAUSES}))
def test_figures_of_timelines(tables, timeline):
    expected = {(row["event_id"], row["cause_id"]) for row in CAUSES if row["example"] == timeline}
    assert drawn(graphs.timeline(tables, "", timeline, 1000)) == expected


EPOCHS = fixture_seeds.expected("ssb", "group_epochs")


@pytest.mark.parametrize("example", sorted({row["example"] for row in EPOCHS}))
def test_figures_of_groups(tables, example):
    rows = [row for row in EPOCHS if row["example"] == example]
    for root in sorted({row["group_root"] for row in rows}):
        graph = graphs.group(tables, "", SSB[example, root], 1000)
        of_root = [row for row in rows if row["group_root"] == root]
        assert {node.id for node in graph.nodes} == {SSB[example, row["epoch"]] for row in of_root}
        expected = {
            (SSB[example, row["epoch"]], SSB[example, previous])
            for row in of_root
            for previous in row["previous_epochs"].split()
        }
        assert drawn(graph) == expected


OF_EACH = {
    "tangle": "select tangle_name as name, root_id as id from tangles where tangle_name <> 'ssb:feed'",
    "feed": "select '' as name, author as id from feeds",
    "set": "select '' as name, set_id as id from sets",
    "group": "select distinct '' as name, group_id as id from group_epochs",
    "base": "select '' as name, base_id as id from autobase_bases",
    "timeline": "select '' as name, timeline_id as id from timeline_stats",
}


@pytest.mark.parametrize("kind", OF_EACH)
def test_terminal_graphs_show_every_node_and_link(tables, kind):
    """Links read from the drawn lanes equal those of the graph; every node is shown, children above parents."""
    for row in tables.rows(OF_EACH[kind]):
        graph = graphs.READ[kind](tables, row["name"], row["id"], 1000)
        page = Page()
        page.console.file, page.console.width = io.StringIO(), 10_000
        drawings.write(page, graph)
        nodes = {node.id: node for node in graph.nodes}
        follows = {(edge.child, edge.parent) for edge in graph.edges if edge.is_order and edge.child in nodes}
        parents = {child: sorted(parent for each, parent in follows if each == child) for child, _ in follows}
        keys = {id_: (node.state == "in", node.place or 0, id_) for id_, node in nodes.items()}
        lines = order(keys, parents)
        place = {id_: n for n, id_ in enumerate(lines)}
        # Only cycles have a link to a node above; the terminal states it in words.
        down = {(child, parent) for child, parent in follows if place[child] < place.get(parent, -1)}
        assert read(list(draw(lines, parents)))[0] == down
        shown = [line for line in page.console.file.getvalue().splitlines()[1:] if re.search("[●○◌]", line)]
        said = sorted(re.search("[●○◌][^%@A-Za-z0-9]* ([^ ]+)", line)[1] for line in shown)
        assert said == sorted(label(id_).split(" ")[0] for id_ in nodes)


# ---------------------------------------------------------------------------------------------------------------------
# Reasons


def test_why_of_messages_set_aside(tables):
    """The root causes equal `blocked_by`, and each has a path along links of the tangle."""
    rows = tables.rows("select * from tangle_messages where not is_member")
    assert len(rows) > 20
    edges = tables.rows("select message_id, previous_id from tangle_edges")
    links = {(edge["message_id"], edge["previous_id"]) for edge in edges}
    for row in rows:
        tangles = message.explain(tables, row["message_id"])["tangles"]
        place = row["tangle_name"], row["root_id"]
        (tangle,) = (each for each in tangles if (each["tangle_name"], each["root_id"]) == place)
        assert tangle["set_aside_reason"] == row["set_aside_reason"] and tangle["meaning"]
        if row["root_id"] is None:
            continue
        assert [cause["id"] for cause in tangle["causes"]] == row["blocked_by"]
        for cause in tangle["causes"]:
            way = cause["path"]
            assert (way[0], way[-1]) == (row["message_id"], cause["id"])
            assert set(pairwise(way)) <= links or way[1:] == [row["root_id"]]


def test_why_of_unusable_messages(tables):
    for row in tables.rows("select message_id, check_error from ssb_messages where not is_usable"):
        answer = message.explain(tables, row["message_id"])
        assert not answer["is_verified"] and answer["rule"] == row["check_error"] and answer["meaning"]


def test_why_of_messages_off_their_chain(tables):
    rows = tables.rows("select message_id, reason from feed_messages where not in_chain")
    assert len(rows) > 10
    for row in rows:
        feed = message.explain(tables, row["message_id"])["feed"]
        assert feed["reason"] == row["reason"] and feed["meaning"]
        assert feed["gap_sequence"] or feed["fork_sequence"] or feed["broken_by"] or feed["beside"]


def test_why_of_invalid_set_messages(tables):
    rows = tables.rows("select message_id, set_id, reject_reason from set_messages where not is_valid")
    assert len(rows) > 20
    for row in rows:
        answers = pzp.explain(tables, row["message_id"])["sets"]
        (answer,) = (each for each in answers if each["set_id"] == row["set_id"])
        assert answer["reject_reason"] == row["reject_reason"] and answer["meaning"]
        for cause in answer["causes"]:
            assert cause["path"][0] == row["message_id"] and cause["path"][-1] == cause["id"]


def test_why_of_nodes_above_a_rejected_node(tables):
    rows = tables.rows("select distinct base_id, node_id from autobase_rejects where reason = 'previous_set_aside'")
    assert len(rows) > 5
    for row in rows:
        (base,) = node.explain(tables, row["node_id"], row["base_id"])["bases"]
        assert base["causes"] and all(cause["trouble"] != "previous_set_aside" for cause in base["causes"])


def test_status(ask, fixtures):
    code, answer = ask("status", "--target-path", str(fixtures.warehouse / "target" / fixtures.schema))
    assert code == 0 and answer["missing_tables"] == []
    assert answer["runs"][0]["status"] == "success" and answer["runs"][0]["tables"] > 50
    counts = {row["table"]: row for row in answer["counts"]}
    assert counts["tangle_messages"]["total"] == len(fixtures.rows("tangle_messages"))
    assert counts["ssb_rejects"]["total"] == len(fixtures.rows("ssb_rejects"))
    assert answer["look_at"]


def test_check_agrees_with_the_documents(ask, tmp_path):
    """The feeds, tips and views of the documents, as the statements of a peer, agree with the tables."""
    answers = []
    for row in fixture_seeds.expected("ssb", "feeds"):
        latest = {"id": SSB[row["example"], row["latest"]]} if row["latest"] else {}
        feed = AUTHORS[row["example"], row["author"]]
        answers.append({"feed": feed, "sequence": int(row["verified_length"]), **latest})
    for row in fixture_seeds.expected("ssb", "tangles"):
        root, tips = SSB[row["example"], row["root"]], row["tips"].split()
        tips = [SSB[row["example"], tip] for tip in reversed(tips)]
        members = int(row["member_count"])
        answers.append({"tangle": row["tangle_name"], "root": root, "previous": tips, "members": members})
    views: dict[tuple, list] = {}
    for row in fixture_seeds.expected("autobase", "autobase_views"):
        observer = "all" if row["observer"] == "all" else WRITERS[row["example"], row["observer"]]
        views.setdefault((row["example"], observer), []).append((int(row["position"]), row["node"]))
    for (example, observer), nodes in views.items():
        order = [node_id(example, node) for _, node in sorted(nodes)]
        answers.append({"view": example, "observer": observer, "order": order})
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, answers)))
    code, answer = ask("check", str(file))
    assert (code, answer["lines"]) == (0, []) and answer["counts"]["agree"] == len(answers) > 100


# ---------------------------------------------------------------------------------------------------------------------
# Lines


SYSTEMS = {"ssb": "ssb", "autobase": "autobase", "pzp": "pzp", "event": "events"}

#: The fields of a line that state its id.
SAID = {"ssb": ["key"], "pzp": ["id"], "autobase": ["writer", "length"], "event": ["event"]}


@pytest.mark.parametrize("name", SYSTEMS)
def test_ids_of_lines(tables, name):
    """The id of each accepted line equals the id that the line with this number states in the committed file."""
    log = log_places.LOGS[name]
    refused = {(row["source_file"], row["line"]) for row in tables.rows(f"select * from {log.rejects}")}
    wrong = {
        row["message_id"]
        for row in tables.rows(
            """select message_id from ssb_messages where not is_key_consistent
            union all select message_id from pzp_messages where not is_id_consistent"""
        )
    }
    rows = fixture_seeds.log(SYSTEMS[name])
    assert log_places.files(tables, log) == Counter(row["source_file"] for row in rows)
    compared = 0
    for row in rows:
        file, line = row["source_file"], int(row["line"])
        if (file, line) in refused:
            continue
        gave = log_places.id_of_line(tables, log, file, line)
        assert gave["id"] is not None
        document = json.loads(base64.b64decode(row["raw_base64"]))
        said = [document[field] for field in SAID[name] if field in document]
        if said and gave["id"] not in wrong:  # Bare values do not state an id.
            compared += 1
            wanted = as_sigil(":".join(map(str, said)))
            assert gave["id"] == (wanted.lower() if name == "autobase" else wanted)
    assert compared > 10


def test_repeated_lines_of_one_message(tables):
    (row,) = tables.rows(
        "select message_id, line_count from ssb_messages where is_usable order by line_count desc limit 1"
    )
    log = log_places.LOGS["ssb"]
    total, places = log_places.lines_of_id(tables, log, {"id": row["message_id"], "within": None})
    assert total == row["line_count"] == len(places) > 1
    for place in places:
        (found,) = line.explain(tables, f"{place['source_file']}:{place['line']}")["lines"]
        assert found["id"] == row["message_id"] and place not in found["also_at"]
