"""The first page, and drawings of tangles."""

import re

import pytest

import cli_story as story
from conftest import ROOT
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.build import build
from dbt_tangles.report.parts import Limits
from dbt_tangles.report.subjects import MALFORMED_CLAIMS
from report_browser import address, browse, needs_chromium, url
from report_kit import make, node, shard


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    others = [
        story.tangle(story.sigil(f"other{n}"), set_aside_count=0, candidate_count=n, depth=n) for n in range(1, 9)
    ]
    of_feed = story.tangle(story.ROOT, tangle_name="ssb:feed", candidate_count=99)
    return warehouse.write("tangles", story.tangle(story.ROOT), *others, of_feed)


def test_the_overview_counts_every_tangle(warehouse):
    glance = shard(make(warehouse), "glance")
    tangles = {row["low"]: row for row in glance["sizes"]}
    assert tangles[4] == {"low": 4, "high": 7, "well": 4, "troubled": 1}
    assert sum(row["well"] + row["troubled"] for row in glance["depths"]) == 9
    (messages,) = [row for row in glance["counts"] if row["table"] == "tangle_messages"]
    assert messages["counts"] == {"member": 3, "missing_previous": 1, "previous_set_aside": 1}
    assert glance["meanings"]["tangle_messages"]["missing_previous"].startswith("A message in its previous")


def test_the_verdict(warehouse):
    """Each system with rows has a sentence and its numbers; a missing message that mends the most is named."""
    missing = {"tangle_name": "thread", "root_id": story.ROOT, "missing_id": story.GONE, "unlocks": 2}
    missing |= {"is_in_log": False, "is_sealed": False}
    warehouse.write("tangle_missing", missing | dict.fromkeys(("waiting_count", "blocked_count"), 2))
    warehouse.write("ssb_rejects", {"source_file": "log", "line": 1, "reason": "malformed_json", "line_count": 1})
    (verdict,) = shard(make(warehouse), "glance")["verdicts"]
    assert verdict["sentence"] == (
        "The SSB log has much trouble: 5 messages are verified, 1 line is rejected and 2 messages are set "
        "aside in tangles."
    )
    assert [(each["n"], each.get("reasons")) for each in verdict["numbers"]] == [
        (5, []),
        (1, [["malformed_json", 1]]),
        (2, [["missing_previous", 1], ["previous_set_aside", 1]]),
        (0, []),
        (2, None),
    ]
    assert verdict["numbers"][-1]["id"] == story.GONE


def test_over_time(warehouse):
    rows = [story.candidate(story.sigil(f"m{n}"), story.ALICE, 1, received_ms=1.5e12 + n * 1e9) for n in range(100)]
    odd = [story.candidate(story.sigil(f"x{n}"), story.ALICE, None, asserted_ms=at) for n, at in enumerate(_NO_TIMES)]
    warehouse.write(
        "tangle_messages", *rows, *odd, story.candidate(story.sigil("late"), story.ALICE, 1, asserted_ms=4e12)
    )
    over_time = shard(make(warehouse, "--limit", "1"), "glance")["over_time"]
    assert sum(bin_["members"] for bin_ in over_time["bins"]) == 101
    assert over_time["without_time"] == len(_NO_TIMES)
    assert over_time["width"] < 1e13 / 60


_NO_TIMES = (-1.0, float("nan"), float("inf"), 1e300, None)


def test_drawing(warehouse):
    out = make(warehouse)
    index = shard(out, "index")["kinds"]["tangle"]
    assert index["total"] == 9 and len(index["parts"]) == 9 and index["parts"][0]["trouble"] == 2
    view = shard(out, "tangle-0")
    assert [lane["id"] for lane in view["lanes"]] == [story.ALICE, story.BOB, "not here"]
    assert view["rows"] == [0, 1, 2]
    assert node(view, story.ROOT)["y"] == 0 and node(view, story.B1)["state"] == "aside"
    assert node(view, story.GONE)["y"] < node(view, story.B1)["y"] < node(view, story.B2)["y"]
    ends = {(view["nodes"][child]["id"], view["nodes"][parent]["id"]) for child, parent, *_ in view["edges"]}
    assert ends >= {(story.A2, story.A1), (story.B1, story.GONE), (story.B2, story.B1)}


@needs_chromium
def test_a_drawing_on_a_phone(warehouse):
    """A drawing wider than its frame says so; rows without a depth name the state of their nodes."""
    aside = [story.candidate(id_, story.BOB, None, set_aside_reason="missing_root") for id_ in (story.B1, story.B2)]
    members = [story.candidate(story.sigil(f"m{n}"), f"@m{n}.ed25519", 0) for n in range(5)]
    warehouse.write("tangle_messages", story.candidate(story.ROOT, story.ALICE, 0, is_tip=True), *members, *aside)
    out, browser = make(warehouse), browse()
    shown = "const texts = [...document.querySelectorAll('.drawing .depth')].map((each) => each.textContent);"
    for width, is_hidden in ((390, False), (2400, True)):
        browser.show(width, 844)
        browser.visit(url(out, address("tangle", f"thread:{story.ROOT}")), ".drawing")
        found = browser.run(f"{shown} return [texts, document.querySelector('.hint').hidden];")
        assert found == [["depth", "0", "aside", "aside"], is_hidden]


def test_people_and_words(warehouse):
    """A thread, its lanes and its nodes have the name of the author and the first words, without marks of direction."""
    said = {"author": story.ALICE, "author_name": "Alice <b>\u202e", "sequence": 2, "content_type": "post"}
    sealed = {"message_id": story.A1, "content_type": None, "is_encrypted": True}
    warehouse.write(
        "messages",
        {**said, "message_id": story.ROOT, "first_words": "A garden"},
        said | sealed,
        {"verdict": "rejected"},
    )
    out = make(warehouse)
    entry, other = shard(out, "index")["kinds"]["tangle"]["parts"][:2]
    assert (entry["title"], entry["by"], entry["id"]) == ("A garden", r"Alice <b>\u202e", story.ROOT)
    assert (other["title"], other["by"]) == ("(no words)", None)
    view = shard(out, "tangle-0")
    assert [lane["name"] for lane in view["lanes"]] == [entry["by"], story.BOB, "not here"]
    assert [node(view, id_)["label"] for id_ in (story.ROOT, story.A1)] == ["A garden", "(encrypted)"]
    assert node(view, story.A1)["words"].startswith(f"by {entry['by']}")
    assert node(view, story.A1)["title"] == f"encrypted, sequence 2 · {entry['by']}"


@pytest.mark.parametrize(("status", "title"), [("missing", "(the root is missing)"), ("sealed", "(encrypted)")])
def test_a_root_without_words(tmp_path, status, title):
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("tangles", story.tangle(story.ROOT, root_status=status))
    assert shard(make(warehouse), "index")["kinds"]["tangle"]["parts"][0]["title"] == title


def test_order_by_convention(tmp_path):
    """The thread A to E: the drawing names the neighbour that D does not follow, and counts such neighbours."""
    view = shard(make(story.write_diamond(tmp_path / "wh")), "tangle-0")
    assert view["facts"]["ties in the order"] == 1
    _, _, c, d, _ = story.DIAMOND
    assert node(view, d)["words"].endswith(f"concurrent with 1, tie with {label(c)}")
    assert node(view, c)["words"].endswith("concurrent with 1")


def test_facts_list_the_counted_rows(warehouse):
    """A link back in time, a malformed claim, and one node for each author are in the lists of the thread."""
    ids = [(story.ROOT, story.ALICE, 0), (story.A1, story.ALICE, 1), (story.A2, story.BOB, 2)]
    times = [(3.0, 1.0), (2.0, 1.0), (2.0, 0.0)]
    rows = [
        story.candidate(*place, asserted_ms=asserted, received_ms=received, is_merge=place[2] == 2)
        for place, (asserted, received) in zip(ids, times, strict=True)
    ]
    aside = [story.candidate(story.B1, story.BOB, None, set_aside_reason="missing_previous")]
    aside += [story.candidate(story.B2, story.BOB, None, set_aside_reason="wrong_type")]
    warehouse.write("tangle_messages", *rows, *aside)
    warehouse.write("tangle_edges", story.edge(story.A1, story.ROOT, True), story.edge(story.A2, story.A1, True))
    view = shard(make(warehouse), "tangle-0")
    number = {node["id"]: n for n, node in enumerate(view["nodes"])}
    root, first, last = (number[id_] for id_ in (story.ROOT, story.A1, story.A2))
    assert view["lists"] == {
        "members": [root, first, last],
        "set aside": [number[story.B1]],
        "malformed claims": [number[story.B2]],
        "tangle forks": [],
        "merges": [last],
        "tips": [],
        "ties in the order": [],
        "authors": [first, last],
        "links back in time": [[first, root]],
    }


def test_malformed_claims_are_those_of_the_model():
    text = (ROOT / "models" / "intermediate" / "tangles" / "int_tangle_claims.yml").read_text()
    (errors,) = re.findall(r"claim_error: \[(.*)\]", text)
    assert {*errors.split(", ")} == MALFORMED_CLAIMS


def test_why_equals_the_answer_of_the_command(warehouse):
    out = make(warehouse)
    view, answers = shard(out, "tangle-0"), shard(out, "tangle-0-why")
    for number, each in enumerate(view["nodes"]):
        if each["state"] == "missing":
            assert str(number) not in answers
            continue
        text = [
            "  " * indent + "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
            for indent, *pieces in answers[str(number)]
        ]
        assert text == warehouse.ask("why", each["id"]).output.splitlines()[: len(text)]


def test_bounds(warehouse):
    out = make(warehouse, "--limit", "2")
    index = shard(out, "index")
    assert index["kinds"]["tangle"]["total"] == 9
    assert [part["trouble"] > 0 for part in index["kinds"]["tangle"]["parts"]] == [True, False, False]
    view = shard(make(warehouse, nodes=2), "tangle-0")
    assert view["left_out"] == 3 and len([each for each in view["nodes"] if each["state"] != "missing"]) == 2


def test_tables_that_are_not_there(tmp_path):
    warehouse = story.Warehouse(tmp_path / "wh")
    out = make(warehouse)
    assert "tangles" in shard(out, "index")["missing"]
    assert shard(out, "index")["kinds"]["tangle"] == {"total": 0, "parts": []}


def test_other_files_of_the_folder_stay(warehouse, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "thesis.txt").write_text("mine")
    result = warehouse.ask("report", "--out", str(tmp_path / "report"))
    assert result.exit_code == 2 and "not a report and not empty" in result.output
    assert [path.name for path in (tmp_path / "report").iterdir()] == ["thesis.txt"]
    (tmp_path / "report" / "thesis.txt").unlink()
    make(warehouse)
    make(warehouse, "--limit", "1")
    assert not (tmp_path / "report" / "data" / "tangle-5.js").exists()


def test_progress_is_told(warehouse, tmp_path):
    told = []
    build(Tables(warehouse.root, "tangles"), tmp_path / "out", Limits(20, 100), lambda *each: told.append(each))
    assert [each[1:] for each in told] == [(n + 1, len(told)) for n in range(len(told))]
    assert told[0][0] == "drawing each tangle"
