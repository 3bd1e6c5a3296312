"""The tutorials show the real output: each shown line, in its order, is a line of the output."""

import re
import shlex

import pytest
from click.testing import CliRunner

from conftest import ROOT
from dbt_tangles.cli.cli import main

FOLDER = ROOT / "docs" / "tutorial"
FIRST_LOG = (FOLDER / "first-log.md").read_text()
DISAGREEMENT = (FOLDER / "first-disagreement.md").read_text()


def examples(page: str) -> list[tuple[str, str]]:
    """List the commands of a page, each with the lines below it."""
    return re.findall(r"```console\n\$ tangles ([^\n]+)\n(.+?)```", page, re.S)


def check(command: str, shown: str, environment: dict[str, str] | None = None) -> None:
    """Compare the shown lines with the printed ones."""
    printed = iter(CliRunner().invoke(main, shlex.split(command), env=environment).stdout.splitlines())
    lines = shown.splitlines()
    assert len(lines) > 0 and [line for line in lines if line not in printed] == []


@pytest.mark.parametrize(("command", "shown"), examples(FIRST_LOG))
def test_first_log(fixtures, command, shown):
    """The fixtures hold the log of the tutorial, under another name."""
    assert (ROOT / "tests" / "data" / "ssb" / "small.jsonl").is_file() and FIRST_LOG.count("small.jsonl") == 2
    environment = {"TANGLES_WAREHOUSE": str(fixtures.warehouse), "TANGLES_SCHEMA": fixtures.schema}
    check(command.replace("small.jsonl", "damaged.jsonl"), shown, environment)


def test_first_disagreement(project, tmp_path, monkeypatch):
    """Two replicas, of which one lacks an event."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TANGLES_SCHEMA", "tangles")
    logs = dict(zip(("ann", "bob"), re.findall(r"```json\n(.+?)```", DISAGREEMENT, re.S), strict=True))

    def build(name: str, log: str):
        (tmp_path / f"{name}.jsonl").write_text(log)
        built = project(f"tutorial_{name}", event_log=str(tmp_path / f"{name}.jsonl"))
        assert built.invoke_parsed("run", "--select", "+tangles.marts.timelines").success
        (tmp_path / name).mkdir(exist_ok=True)
        link = tmp_path / name / "tangles.db"
        link.unlink(missing_ok=True)
        link.symlink_to(built.warehouse / f"{built.schema}.db")
        monkeypatch.setenv("TANGLES_SCHEMA", "tangles")
        return built

    for name, log in logs.items():
        build(name, log)
    commands = examples(DISAGREEMENT)
    assert [command for command, _ in commands] == ["diff ann bob", "show --warehouse bob garden"]
    for command, shown in commands:
        check(command, shown)
