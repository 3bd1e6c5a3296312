"""`tangles why FILE:N`: the id that a line gave, other lines that gave it, and reasons of rejected lines."""

import pytest

import cli_story as story
from cli_kit import Warehouse
from cli_story import A1, A2, B1, BAD

LOG = "file:///logs/a%20b.jsonl"


def place(line: int, file: str = LOG) -> dict:
    return {"source_file": file, "line": line}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """A file of five lines; a message has two copies in it and one in another file."""
    warehouse = story.write(tmp_path_factory.mktemp("line") / "wh")
    # The last is refused, and no message.
    ids = [A1, A2, BAD, A1, None]
    bad = story.message(BAD, story.BOB, 3, is_usable=False, check_error="bad_signature")
    messages = [story.message(A2, story.ALICE, 3), story.message(B1, story.BOB, 1), bad]
    warehouse.write("ssb_messages", story.message(A1, story.ALICE, 2, line_count=3), *messages)
    lines = [("file:///old/b.jsonl", 1, B1), ("file:///old/c.jsonl", 1, A1)]
    lines += [(LOG, line, id_) for line, id_ in enumerate(ids, 1)]
    warehouse.fill("stg_ssb__lines", "source_file line message_id", *reversed(lines))
    rejects = [(3, "bad_signature", BAD), (5, "malformed_json", None)]
    return warehouse.fill("ssb_rejects", "line reason message_id", *rejects, source_file=LOG)


@pytest.mark.parametrize("name", ["a b.jsonl", "./a b.jsonl", "logs/x/../a b.jsonl", "/logs/a b.jsonl", LOG, LOG[7:]])
def test_a_line_that_gave_a_message(warehouse, name):
    answer = warehouse.json("why", f"{name}:2")
    (line,) = answer["lines"]
    assert (line["id"], line["rejects"], line["line_count"], line["also_at"]) == (A2, [], 1, [])
    alone = warehouse.json("why", A2)
    assert line["why"] == {key: alone[key] for key in alone.keys() - {"missing_tables", "schema"}}
    assert answer["is_well"]


def test_what_is_no_line_stays_an_id(warehouse, tmp_path):
    """A name without a suffix that was not read, a line of another kind, and a node that is named like a line."""
    other = warehouse.ask("why", "d_d:1")
    assert other.exit_code == 2 and "a line of a log that was read (FILE:N)" in other.output
    assert warehouse.ask("why", "a b.jsonl:2", "--kind", "message").exit_code == 2
    named = Warehouse(tmp_path / "wh").write("stg_ssb__lines", {**place(1, "file:///ab"), "message_id": A1})
    named.write("autobase_nodes", {"base_id": "b", "node_id": f"{'ab' * 32}:1", "role": "indexing"})
    assert named.json("why", "ab:1")["kind"] == "node" and named.json("why", "ab:2")["kind"] == "line"


def test_copies(warehouse):
    places = [(LOG, 1), (LOG, 4), ("file:///old/c.jsonl", 1)]
    for file, line in places:
        (row,) = warehouse.json("why", f"{file}:{line}")["lines"]
        assert row["id"] == A1 and row["line_count"] == 3
        assert {(each["source_file"], each["line"]) for each in row["also_at"]} == {*places} - {(file, line)}
    text = warehouse.ask("why", "old/c.jsonl:1").stdout
    assert "2 more lines gave the same:" in text and "a%20b.jsonl:4\n" in text and "member, depth 1" in text


def test_a_line_that_was_refused(warehouse):
    answer = warehouse.json("why", "a b.jsonl:3")
    (line,) = answer["lines"]
    assert [row["reason"] for row in line["rejects"]] == ["bad_signature"] and not answer["is_well"]
    assert line["why"]["rule"] == "bad_signature"
    text = warehouse.ask("why", "a b.jsonl:3").stdout
    assert f"its id would be {BAD}" in text and "not verified: bad_signature" in text
    (nothing,) = warehouse.json("why", "a b.jsonl:5")["lines"]
    assert (nothing["id"], nothing["why"]) == (None, None)


def test_lines_and_files_that_are_not_there(warehouse):
    for given in ("a b.jsonl:6", "a b.jsonl:0", f"a b.jsonl:{10**17}"):
        result = warehouse.ask("why", given)
        assert result.exit_code == 1 and "ssb log, a%20b.jsonl has 5 lines" in result.stdout
    result = warehouse.ask("why", "d.jsonl:1")
    assert result.exit_code == 1 and "the build read no file of that name" in result.stdout
    assert warehouse.json("why", ".jsonl:1")["other_files"] == [LOG, "file:///old/b.jsonl", "file:///old/c.jsonl"]


def test_several_files_of_a_name(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    ids = {"/x/a.jsonl": A1, "/y/a.jsonl": B1, "/y/ba.jsonl": A2}
    warehouse.write("stg_ssb__lines", *({**place(1, file=f"file://{f}"), "message_id": id_} for f, id_ in ids.items()))
    assert [line["id"] for line in warehouse.json("why", "a.jsonl:1")["lines"]] == [A1, B1]
    assert [line["id"] for line in warehouse.json("why", "y/a.jsonl:1")["lines"]] == [B1]


def test_staging_may_be_gone(tmp_path):
    """Without staging, rejects are still explained, and the answer names the tables that are not built."""
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("ssb_rejects", {"source_file": LOG, "line": 3, "reason": "truncated_file"})
    result = warehouse.ask("why", "a b.jsonl:3")
    assert result.exit_code == 0 and "The compressed file ends early" in result.stdout
    assert "not built" in result.stdout and "stg_ssb__lines" in result.stdout
    assert warehouse.ask("why", "a b.jsonl:2").exit_code == 1


def test_lines_of_other_logs(tmp_path):
    writer = "ab" * 32
    warehouse = Warehouse(tmp_path / "wh")
    lines = [(1, "base", "x", None, None), (2, "node", "x", writer, 1), (3, "node", "y", writer, 1)]
    warehouse.fill("stg_autobase__lines", "line kind base_id writer length", *lines, source_file=LOG)
    nodes = {"node_id": f"{writer}:1", "role": "indexing", "is_head": True}
    warehouse.fill("autobase_nodes", "base_id", ("x",), ("y",), **nodes)
    warehouse.write("stg_pzp__lines", {**place(1, file="p"), "message_id": "abc"})
    warehouse.write("pzp_messages", {"message_id": "abc", "is_usable": True})
    event = {"event_id": "one", "source_file": "e"}
    warehouse.fill("stg_events__lines", "line timeline_id", (1, "t"), (2, "u"), **event)
    event |= {"rank": 0, "position": 0, "is_tip": True, "arrival": 1}
    warehouse.fill("timeline_events", "timeline_id", ("t",), ("u",), **event)

    def line(given: str) -> dict:
        (row,) = warehouse.json("why", given)["lines"]
        return row

    assert "it names the writers of base x" in warehouse.ask("why", "a b.jsonl:1").stdout
    node = line("a b.jsonl:3")
    assert (node["id"], node["within"], node["line_count"]) == (f"{writer}:1", "y", 1)
    assert [base["base_id"] for base in node["why"]["bases"]] == ["y"]
    assert line("p:1")["why"]["kind"] == "pzp"
    event = line("e:2")
    assert (event["log"], event["within"], event["line_count"]) == ("event", "u", 1)
    assert [row["timeline_id"] for row in event["why"]["timelines"]] == ["u"]
    assert "it gave one of timeline u" in warehouse.ask("why", "e:2").stdout


def test_staging_in_a_schema_of_its_own(tmp_path):
    """The table `runs` lists the schema of staging; an older table in the main schema is ignored."""
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("stg_ssb__lines", {**place(1), "message_id": A1}).move("stg_ssb__lines", "other_secret")
    warehouse.write("stg_ssb__lines", {**place(1), "message_id": A2}).move("stg_ssb__lines", "shop_secret")
    warehouse.write("stg_ssb__lines", {**place(1), "message_id": B1})
    first = story.run("one", 1, tables=["tangles.stg_ssb__lines"])
    warehouse.write("runs", first, story.run("two", 2, tables=["tangles.feeds", "shop_secret.stg_ssb__lines"]))
    answer = warehouse.json("why", "a b.jsonl:1")
    assert [line["id"] for line in answer["lines"]] == [A2]
    assert "stg_ssb__lines" not in answer["missing_tables"] and "runs" not in answer["missing_tables"]
    warehouse.write("runs", first)
    assert [line["id"] for line in warehouse.json("why", "a b.jsonl:1")["lines"]] == [B1]


@pytest.mark.parametrize(
    "name", ["../../x.stg_ssb__lines", "x.../stg_ssb__lines", "stg_ssb__lines", ".", "gone.stg_ssb__lines"]
)
def test_runs_without_the_schema_of_staging(tmp_path, name):
    warehouse = story.write(tmp_path / "wh").write("stg_ssb__lines", {**place(1), "message_id": A1})
    warehouse.write("runs", story.run("one", 1, tables=[name]))
    assert [line["id"] for line in warehouse.json("why", "a b.jsonl:1")["lines"]] == [A1]
