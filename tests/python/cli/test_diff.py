"""`tangles diff`: rows of one replica only, and rows with different values."""

import json
import shutil

import pytest
from click.testing import CliRunner

import cli_story as story
from answer_schemas import validate
from cli_kit import Warehouse
from cli_story import run
from dbt_tangles.cli.cli import main
from dbt_tangles.cli.compare import COMPARED


def ask(a: Warehouse, b: Warehouse, *words: str):
    return CliRunner().invoke(main, ["diff", str(a.root), str(b.root), *words])


@pytest.fixture
def pair(tmp_path):
    return story.write(tmp_path / "a"), story.write(tmp_path / "b")


def differences(a: Warehouse, b: Warehouse) -> dict[str, tuple]:
    """Return the numbers of differences by table: only in A, only in B, different values."""
    result = ask(a, b, "--json")
    answer = validate(json.loads(result.stdout))
    sides = ("only_a", "only_b", "differ")
    counts = {row["table"]: tuple(row[side]["total"] for side in sides) for row in answer["tables"]}
    assert answer["is_same"] == (not any(map(any, counts.values()))) == (result.exit_code == 0)
    return {table: each for table, each in counts.items() if any(each)}


def test_the_same(pair):
    assert differences(*pair) == {}
    assert "no difference in the tables of both: ssb_messages, feeds, tangles" in ask(*pair).stdout
    assert "sets of A, sets of B" in ask(*pair).stdout


def test_a_message_that_one_lacks(pair):
    a, b = pair
    a.write("ssb_messages", story.message(story.A1, story.ALICE, 2), story.message(story.A2, story.ALICE, 3))
    b.write("ssb_messages", story.message(story.A1, story.ALICE, 2), story.message(story.B1, story.BOB, 1))
    assert differences(a, b) == {"ssb_messages": (1, 1, 0)}
    answer = json.loads(ask(a, b, "--json").stdout)
    assert not answer["has_same_messages"]
    row = answer["tables"][0]
    assert row["only_a"]["first"] == [{"message_id": story.A2}]
    assert row["only_b"]["first"] == [{"message_id": story.B1}]
    text = ask(a, b).stdout
    assert "1 message of SSB only in A" in text and "the logs differ" in text


def test_equal_messages_with_different_verdicts(pair):
    a, b = pair
    b.write("feeds", story.feed(story.ALICE, 2, story.A1), story.feed(story.BOB, 2, story.B2))
    assert differences(a, b) == {"feeds": (0, 0, 1)}
    row = next(row for row in json.loads(ask(a, b, "--json").stdout)["tables"] if row["table"] == "feeds")
    (first,) = row["differ"]["first"]
    assert first["author"] == story.ALICE
    assert first["values"]["verified_length"] == [3, 2] and "status" not in first["values"]
    assert "but compute different tables" in ask(a, b).stdout
    a.write("runs", run("one", 1, tables=["tangles.feeds"], vars=[("clock_limit", "1"), ("x", "2")]))
    b.write("runs", run("two", 1, tables=["tangles.feeds"], vars=[("clock_limit", "3"), ("x", "2")]))
    text = ask(a, b).stdout
    assert "built with clock_limit 1 in A, 3 in B" in text and "different vars may explain the differences" in text
    assert "but compute different tables" not in text


def test_roots_that_are_null(pair):
    a, b = pair
    row = story.candidate(story.A1, story.ALICE, None, root_id=None, set_aside_reason="malformed_tangle")
    for each in pair:
        each.write("tangle_messages", row)
    assert differences(a, b) == {}
    b.write("tangle_messages", row | {"set_aside_reason": "wrong_type"})
    assert differences(a, b) == {"tangle_messages": (0, 0, 1)}


def test_every_table_is_compared(tmp_path):
    a, b = Warehouse(tmp_path / "a"), Warehouse(tmp_path / "b")
    for each in COMPARED:
        both, one = ({key: f"{key} {number}" for key in each.keys} for number in range(2))
        a.write(each.table, both, one)
        b.write(each.table, both)
    assert differences(a, b) == {each.table: (1, 0, 0) for each in COMPARED}
    assert differences(b, a) == {each.table: (0, 1, 0) for each in COMPARED}


def test_the_limit(pair):
    a, b = pair
    b.write("ssb_messages")
    text = ask(a, b, "--limit", "2").stdout
    assert "6 messages of SSB only in A" in text and "… and 4 more" in text
    assert "…" not in ask(a, b, "--limit", "0").stdout
    row = json.loads(ask(a, b, "--limit", "2", "--json").stdout)["tables"][0]
    assert row["only_a"]["total"] == 6 and len(row["only_a"]["first"]) == 2


def test_warehouses_that_cannot_be_compared(pair, tmp_path):
    a, b = pair
    nothing = ask(a, Warehouse(tmp_path / "c"))
    assert nothing.exit_code == 2 and "no table in common" in nothing.stderr
    shutil.rmtree(b.folder)
    assert ask(a, b).exit_code == 2 and "the folder has no tables" in ask(a, b).stderr


def test_tables_without_rows_fail(tmp_path):
    """A gate that compares no row does not pass."""
    empty = [Warehouse(tmp_path / name).write("feeds").write("ssb_messages") for name in "ab"]
    result = ask(*empty)
    assert result.exit_code == 2 and "have no row to compare" in result.stderr
    empty[1].write("feeds", story.feed(story.ALICE, 1, story.A1))
    assert ask(*empty).exit_code == 1
