"""Shell completion of ids."""

import shutil

import pytest
from click.shell_completion import BashComplete

import cli_story as story
from cli_kit import HOSTILE
from dbt_tangles.cli.cli import main


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGLES_WAREHOUSE", str(tmp_path / "wh"))
    monkeypatch.delenv("TANGLES_SCHEMA", raising=False)
    return story.write(tmp_path / "wh")


def offered(*words: str) -> list[str]:
    found = BashComplete(main, {}, "tangles", "_TANGLES_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [each.value for each in found]


def test_commands_and_options(warehouse):
    assert offered("wh") == ["why"] and "--line" in offered("why", "--l")
    assert offered("show", "--format", "m") == ["mermaid"]


def test_ids(warehouse):
    assert offered("why", "%a") == [story.A1, story.A2]
    assert offered("why", "%nobody") == offered("why", "") == []
    assert offered("show", "@") == [story.ALICE, story.BOB] and offered("show", "%ro") == [story.ROOT]


def test_where_the_tables_are(warehouse, tmp_path, monkeypatch):
    shutil.move(warehouse.root, tmp_path / "moved")
    assert offered("why", "%a") == []
    assert offered("why", "--warehouse", str(tmp_path / "moved"), "%a") == [story.A1, story.A2]


def test_hostile_ids(warehouse):
    warehouse.write("ssb_messages", story.message(f"%x{HOSTILE}", story.ALICE, 1), story.message("%xy", story.ALICE, 1))
    assert offered("why", "%x") == ["%xy"]
