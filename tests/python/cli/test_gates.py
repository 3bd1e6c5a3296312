"""`tangles status --fail-on`: conditions, their limits and lists."""

import pytest

import cli_story as story
from cli_story import run


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    """A log with 2 messages set aside, 3 rejected lines, a forked feed and one with a gap; its last 2 runs failed."""
    monkeypatch.chdir(tmp_path)
    warehouse = story.write(tmp_path / "wh")
    reject = {"source_file": "file:/log", "reason": "bad_signature"}
    warehouse.write("ssb_rejects", reject | {"line": 3}, reject | {"line": 5, "line_count": 2})
    fork = story.feed(story.CAROL, 1, story.C1) | {"status": "forked", "fork_sequence": 2}
    gap = story.feed(story.BOB, 3, story.B2) | {"status": "gap", "gap_sequence": 4}
    warehouse.write("feeds", story.feed(story.ALICE, 3, story.A2), fork, gap)
    runs = (run("one", 1, "error"), run("two", 2), run("three", 3, "error"), run("four", 4, "interrupted"))
    return warehouse.write("runs", *runs)


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("rejects", 3, "file:/log:3 bad_signature"),
        ("forks", 1, f"feed {story.CAROL} at sequence 2"),
        ("gaps", 1, f"feed {story.BOB} at sequence 4"),
        ("set_aside", 2, f"{story.B1} missing_previous, root {story.ROOT}"),
        ("failed_run", 2, "four interrupted"),
    ],
)
def test_conditions(warehouse, name, count, first):
    (found,) = warehouse.json("status", "--fail-on", name)["conditions"]
    assert (found["name"], found["count"], found["allowed"], found["is_failed"]) == (name, count, 0, True)
    assert found["first"][0] == first
    text = warehouse.ask("status", "--fail-on", name).stdout
    assert f"{name}: {count}, 0 allowed" in text and first.removeprefix("file:/") in text
    limits = [f"failed_run=2,{name}={count - less}" for less in (0, 1)]
    assert [warehouse.ask("status", "--fail-on", limit).exit_code for limit in limits] == [0, 1]


def test_a_failed_run_is_allowed_only_by_name(warehouse):
    assert [warehouse.ask("status", *words).exit_code for words in ((), ("--fail-on", "rejects=3"))] == [1, 1]
    assert warehouse.ask("status", "--fail-on", "failed_run=2").exit_code == 0


def test_tangles_that_are_equal_count_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    twins = story.write_twins(tmp_path / "wh")
    (found,) = twins.json("status", "--fail-on", "set_aside")["conditions"]
    assert found["count"] == 2


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["rejects,other"], "'other' is not a condition"),
        ([""], "'' is not a condition"),
        (["rejects=", "rejects=-1", "rejects=1.5", "rejects=٣"], "not a whole number"),
    ],
)
def test_wrong_conditions(warehouse, values, said):
    for value in values:
        result = warehouse.ask("status", "--fail-on", value)
        assert result.exit_code == 2 and said in result.stderr


def test_a_condition_needs_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = story.write(tmp_path / "wh").ask("status", "--fail-on", "rejects")
    assert result.exit_code == 2 and "finds no table to check: ssb_rejects is not built" in result.stderr
