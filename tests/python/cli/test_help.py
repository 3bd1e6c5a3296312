"""The help texts of the commands, and shell completion of ids."""

import json
import re
import shlex
import shutil

import click
import pytest
from click.shell_completion import BashComplete

import cli_story as story
from cli_kit import HOSTILE, tangles
from dbt_tangles.cli.cli import COMMANDS, main
from dbt_tangles.cli.peer_answers import KINDS


def help_of(*words: str, width: int = 80) -> str:
    result = tangles(*words, "--help", terminal_width=width, max_content_width=width)
    assert result.exit_code == 0
    return result.stdout


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_text_is_cut(width):
    """The list of commands has the complete first sentence of each command's help."""
    listed = help_of(width=width)
    assert "..." not in listed.partition("Commands:")[2]
    for name in COMMANDS:
        of_its_own = in_one_line(help_of(name, width=200).split("\n\n")[1])
        first, *_ = re.split(r"(?<=\.) ", of_its_own)
        assert f" {name} {first} " in f"{in_one_line(listed)} ", name


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_ends_with_two_examples(name):
    """Each example calls a command with options that it has."""
    *_, title, one, other = help_of(*filter(None, [name]), width=100).splitlines()
    assert title == "  Examples:"
    for words in (shlex.split(line) for line in (one, other)):
        assert words[0] == "tangles" and name in (words[1], None)
        if (command := main.get_command(None, words[1])) is not None:
            command.make_parser(click.Context(command)).parse_args(words[2:])


def test_words_in_place_of_options_and_near_names():
    assert tangles("help", "why").stdout == help_of("why")
    versions = {tangles(word).stdout for word in ("version", "--version")}
    assert len(versions) == 1 and ", version " in versions.pop()
    for words, near in ((["stauts"], "status"), (["why", "--kidn", "pzp"], "--kind")):
        result = tangles(*words)
        assert result.exit_code == 2 and re.search(rf"Did you mean .*'{near}'", result.stderr)


def test_check_explains_its_lines(tmp_path):
    text = help_of("check", width=100)
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("{")]
    shown = [json.loads(line.replace("N,", "1,").replace("N}", "1}").replace(", …", "")) for line in lines]
    assert [{*line} for line in shown] == [{*kind.keys, *kind.says} for kind in KINDS.values()]
    assert all(kind.means and kind.means in in_one_line(text) for kind in KINDS.values())
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, shown)))
    answer = story.write(tmp_path / "wh").ask("check", str(tmp_path / "answers.jsonl"), "--json")
    counts = {"agree": 0, "differ": 0, "unknown": len(KINDS), "unreadable": 0}
    assert answer.exit_code == 1 and json.loads(answer.stdout)["counts"] == counts


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGLES_WAREHOUSE", str(tmp_path / "wh"))
    monkeypatch.delenv("TANGLES_SCHEMA", raising=False)
    return story.write(tmp_path / "wh")


def offered(*words: str) -> list[str]:
    found = BashComplete(main, {}, "tangles", "_TANGLES_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [each.value for each in found]


def test_commands_and_options(warehouse):
    assert offered("wh") == ["why", "whatif"] and "--kind" in offered("why", "--k")
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
