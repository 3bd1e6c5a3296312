"""The example chat: a thread grows from build to build, and the terminal shows its order."""

import subprocess
import sys

import pytest

from conftest import ROOT
from dbt_tangles.cli.sqlite_replica import SqliteReplica
from lettered_log import LetteredLog

CHAT = ROOT / "examples" / "chat" / "chat.py"
MODELS = ("timeline_events", "timeline_updates", "ssb_messages")


def show(path, timeline: str) -> list[str]:
    words = [sys.executable, str(CHAT), str(path), timeline, "--once"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [int(line.split()[0]) for line in shown] == [*range(len(shown))]
    assert all(line.isprintable() for line in shown)
    return [line.split("  ")[-1] for line in shown]


@pytest.fixture
def thread() -> tuple[str, list[bytes]]:
    """Bob answers twice; Carol answers Bob's second answer."""
    made = LetteredLog("chat")
    made.say("A", "alice", "chat", kind="post", text="tea?")
    made.say("B", "bob", "chat", "A", "A", kind="post", text="yes\x1b[31m")
    made.say("C", "bob", "chat", "A", "B", kind="post", text="when?")
    made.say("D", "carol", "chat", "A", "C", kind="post", text="now")
    return f"chat:{made.ids['A']}", made.lines


@pytest.mark.long
def test_a_chat_updates_as_a_build_publishes(project, tmp_path, thread):
    timeline, lines = thread
    path, built = tmp_path / "chat.sqlite", project("chat")

    def night(count: int) -> str:
        built.given(ssb_log=lines[:count]).run("--select", *(f"+{model}" for model in MODELS))
        result = built.ask("follow", timeline, "--into", str(path))
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "loaded" in night(2)
    assert show(path, timeline) == ["tea?", "yes [31m"]
    assert "2 commands of the latest update" in night(4)
    assert show(path, timeline) == ["tea?", "yes [31m", "when?", "now"]


def test_a_timeline_that_the_file_does_not_have(tmp_path):
    SqliteReplica(tmp_path / "x.sqlite").load("t", [], "p")
    words = [sys.executable, str(CHAT), str(tmp_path / "x.sqlite"), "other", "--once"]
    shown = subprocess.run(words, capture_output=True, text=True, check=False)
    assert shown.returncode == 1 and "no timeline other" in shown.stderr
