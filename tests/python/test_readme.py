"""The commands and the code of the README and of pages about the fixtures give their documented output."""

import re
import shlex

import pytest
from click.testing import CliRunner

import fixture_seeds
from conftest import ROOT
from dbt_tangles.cli.cli import main

README = (ROOT / "README.md").read_text()
PAGES = README + "".join(
    (ROOT / "docs" / page).read_text()
    for page in ("how-to/query-tables.md", "explanation/timelines.md", "reference/commands.md")
)
ASKS = re.findall(r"^\.venv/bin/tangles (.+?)(?:\s+#.*)?$", PAGES, re.M)
SHOWS = re.findall(r"^\.venv/bin/dbt (show .+)$", PAGES, re.M)


def test_the_readme_is_short():
    assert README.count("\n") <= 150


def test_there_are_commands_to_run():
    assert len(SHOWS) == 8 and len(set(SHOWS)) == 6
    assert {command.split()[0] for command in ASKS} == {"status", "why", "show", "check", "report", "sql"}


@pytest.mark.parametrize("command", sorted(set(SHOWS)))
def test_show(fixtures, command):
    result = fixtures.invoke(*shlex.split(command))
    assert result.success, result.exception
    assert len(result.result.results[0].agate_table.rows) > 0


def test_python_snippets(fixtures):
    space = {}
    for snippet in re.findall(r"```python\n(.+?)```", PAGES, re.S):
        exec(snippet.replace('"warehouse/', f'"{fixtures.warehouse}/'), space)
    assert len(space["messages"]) > 100
    order = [row for row in fixtures.rows("timeline_events") if row["timeline_id"] == "figure_7"]
    assert list(space["screen"]) == [row["event_id"] for row in sorted(order, key=lambda row: row["position"])]


@pytest.mark.parametrize("command", ASKS)
def test_ask(fixtures, command, tmp_path, monkeypatch):
    """Each command finds its subject."""
    monkeypatch.chdir(tmp_path)  # The report is written here.
    environment = {"TANGLES_WAREHOUSE": str(fixtures.warehouse), "TANGLES_SCHEMA": fixtures.schema}
    result = CliRunner().invoke(main, shlex.split(command), env=environment)
    assert result.exit_code == 0 and result.stdout.count("\n") > 0, result.output


def test_rounds_of_the_example(fixtures):
    """The README's table of rounds is the order in which SQL settles the messages of an example."""
    names = fixture_seeds.names("ssb", "message")
    letters = {row["id"]: row["name"] for row in names if row["example"] == "thread_b"}
    depths = {
        letters[row["message_id"]]: row["depth"]
        for row in fixtures.rows("int_tangle_depths")
        if row["message_id"] in letters and row["tangle_name"] == "thread"
    }
    previous = {letter: set() for letter in depths}
    for row in fixtures.rows("int_tangle_edges"):
        if row["message_id"] in letters and row["tangle_name"] == "thread":
            previous[letters[row["message_id"]]].add(letters[row["previous_id"]])
    (table,) = re.findall(r"^\| round \| settles \|.*\n\| --- .*\n((?:\|.*\n)+)", README, re.M)
    stated = [[cell.split() for cell in line.split("|")[1:4]] for line in table.splitlines()]
    assert [int(number) for [number], *_ in stated] == sorted(set(depths.values()))
    for [number], settles, waits in stated:
        done = {letter for letter, depth in depths.items() if depth <= int(number)}
        assert settles == sorted(letter for letter in done if depths[letter] == int(number))
        assert waits == sorted(
            letter for letter, links in previous.items() if letter not in done and links & done and number != "0"
        )


def test_the_log_in_the_readme_is_there():
    (log,) = re.findall(r"make build DBT_ARGS=\"--vars '\{ssb_log: (\S+)\}'\"", README)
    assert (ROOT / log).exists()
