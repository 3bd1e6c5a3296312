"""The commands and the code in the README do what it says, on the fixtures."""

import re
import shlex

import pytest

from conftest import ROOT
from dbt_tangles.timelines import replay

README = (ROOT / "README.md").read_text()
SHOWS = re.findall(r"^\.venv/bin/dbt (show .+)$", README, re.M)


def test_there_are_commands_to_run():
    assert len(SHOWS) == 6


@pytest.mark.parametrize("command", SHOWS)
def test_show(fixtures, command):
    result = fixtures.invoke(*shlex.split(command))
    assert result.success, result.exception
    assert len(result.result.results[0].agate_table.rows) > 0


def test_python_snippets(fixtures):
    space = {}
    for snippet in re.findall(r"```python\n(.+?)```", README, re.S):
        exec(snippet.replace('"warehouse/', f'"{fixtures.warehouse}/'), space)
    assert len(space["messages"]) > 100
    order = [row for row in fixtures.rows("timeline_events") if row["timeline_id"] == "figure_7"]
    assert list(space["screen"]) == [row["event_id"] for row in sorted(order, key=lambda row: row["position"])]


def test_replay(fixtures):
    """The tool, of which the README shows the plain call."""
    assert ".venv/bin/python -m dbt_tangles.timelines.replay\n" in README
    tables = str(fixtures.warehouse / f"{fixtures.schema}.db")
    assert replay.main(["--tables", tables]) == replay.main(["--tables", tables, "--updates"]) == 0


def test_docs(fixtures):
    assert fixtures.invoke("docs", "generate").success
    assert (fixtures.warehouse / "target" / "tangles" / "catalog.json").exists()


def test_the_log_in_the_readme_is_there():
    (log,) = re.findall(r"make build DBT_ARGS=\"--vars '\{ssb_log: (\S+)\}'\"", README)
    assert (ROOT / log).exists()
