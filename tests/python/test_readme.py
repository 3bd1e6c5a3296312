"""The commands and the code of the README, of the tutorials and of pages about the fixtures give their shown output."""

import re
import shlex

import pytest

import fixture_seeds
from cli_kit import tangles
from conftest import ROOT

README = (ROOT / "README.md").read_text()
PAGES = README + "".join(
    (ROOT / "docs" / page).read_text()
    for page in (
        "how-to/query-tables.md",
        "how-to/online-timeline.md",
        "explanation/timelines.md",
        "reference/commands.md",
    )
)
TUTORIALS = {path.stem: path.read_text() for path in (ROOT / "docs" / "tutorial").glob("*.md")}
ASKS = re.findall(r"^\.venv/bin/tangles (.+?)(?:\s+#.*)?$", PAGES, re.M)
#: The first commands of the README after the build of an example, which the fixtures hold.
ASKS += re.findall(r"^tangles ((?!build|init).+)$", README.partition("## What")[0], re.M)
SHOWS = re.findall(r"^\.venv/bin/dbt (show .+)$", PAGES, re.M)


def examples(page: str) -> list[tuple[str, str]]:
    """List the commands of a page, each with the lines below it."""
    return re.findall(r"```console\n\$ tangles ([^\n]+)\n(.+?)```", page, re.S)


COMMANDS = examples((ROOT / "docs" / "reference" / "commands.md").read_text())


def test_there_are_commands_to_run():
    assert len(SHOWS) == 10 and len(set(SHOWS)) == 9
    assert {command.split()[0] for command in ASKS} == {"status", "why", "show", "check", "report", "sql"}
    assert {words.split()[0] for words, _ in COMMANDS} == {"why", "status", "show", "check"}


@pytest.mark.parametrize("command", sorted(set(SHOWS)))
def test_show(fixtures, command):
    result = fixtures.invoke_parsed(*shlex.split(command))
    assert result.success, result.exception
    assert len(result.result.results[0].agate_table.rows) > 0


def test_python_snippets(fixtures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # A snippet writes a file here.
    space = {}
    for snippet in re.findall(r"```python\n(.+?)```", PAGES, re.S):
        exec(snippet.replace('"warehouse/', f'"{fixtures.warehouse}/'), space)
    assert len(space["messages"]) > 100
    order = [row for row in fixtures.rows("timeline_events") if row["timeline_id"] == "figure_7"]
    assert list(space["screen"]) == [row["event_id"] for row in sorted(order, key=lambda row: row["position"])]


@pytest.fixture
def ask(fixtures):
    """Run a command on the fixtures."""
    environment = {"TANGLES_WAREHOUSE": str(fixtures.warehouse), "TANGLES_SCHEMA": fixtures.schema}
    return lambda command: tangles(*shlex.split(command), env=environment)


@pytest.mark.parametrize("command", ASKS)
def test_ask(ask, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # The report is written here.
    result = ask(command)
    assert result.exit_code == 0 and result.stdout.count("\n") > 0, result.output


@pytest.mark.parametrize(("words", "shown"), COMMANDS)
def test_outputs_on_the_commands_page(ask, words, shown):
    """Outputs are equal line by line; for `status` only counts and problems, because run times differ."""
    output = ask(words).stdout
    if words != "status":
        assert output == shown
    else:
        counts = re.findall(r"^ +[0-9,]+ .+: .+$", shown, re.M)
        assert len(counts) > 3 and set(counts) <= set(output.splitlines())
        assert shown.partition("to look at:")[2].removesuffix("…\n") in output


def assert_printed(shown: str, printed: str) -> None:
    """Assert that each shown line is printed, in its order."""
    lines = iter(printed.splitlines())
    assert shown and [line for line in shown.splitlines() if line not in lines] == []


@pytest.mark.parametrize(("command", "shown"), examples(TUTORIALS["first-log"]))
def test_first_log(ask, command, shown):
    """The fixtures hold the log of the tutorial, under another name."""
    assert (ROOT / "tests/data/ssb/small.jsonl").is_file() and TUTORIALS["first-log"].count("small.jsonl") == 1
    assert_printed(shown, ask(command.replace("small.jsonl", "damaged.jsonl")).stdout)


def test_first_disagreement(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = TUTORIALS["first-disagreement"]
    for name, log in zip(("ann", "bob"), re.findall(r"```json\n(.+?)```", page, re.S), strict=True):
        (tmp_path / f"{name}.jsonl").write_text(log)
        built = project(f"tutorial_{name}", event_log=str(tmp_path / f"{name}.jsonl"))
        built.run("--select", "+timeline_events", "+timeline_stats", "+timeline_links")
        (tmp_path / name).mkdir()
        (tmp_path / name / "tangles.db").symlink_to(built.warehouse / f"{built.schema}.db")
    monkeypatch.setenv("TANGLES_SCHEMA", "tangles")
    commands = examples(page)
    assert [command for command, _ in commands] == ["diff ann bob", "show --warehouse bob garden"]
    for command, shown in commands:
        assert_printed(shown, tangles(*shlex.split(command)).stdout)


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
