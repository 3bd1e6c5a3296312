"""The example chat: a thread grows from build to build, and the terminal shows its order."""

import subprocess
import sys

import pytest

from conftest import ROOT
from dbt_tangles.cli.sqlite_replica import SqliteReplica
from fixtures.ssb.author import Author, to_line
from log_files import write

CHAT = ROOT / "examples" / "chat" / "chat.py"
MODELS = ("timeline_events", "timeline_updates", "ssb_messages")


def show(path, timeline: str) -> list[str]:
    words = [sys.executable, str(CHAT), str(path), timeline, "--once"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [int(line.split()[0]) for line in shown] == [*range(len(shown))]
    assert all(line.isprintable() for line in shown)
    return [line.split("  ")[-1] for line in shown]


@pytest.fixture
def thread() -> tuple[str, list[dict]]:
    """Bob answers twice; Carol answers Bob's first answer, but her message arrives last."""
    alice, bob, carol = (Author.from_seed(f"chat {name}") for name in ("alice", "bob", "carol"))
    root = alice.publish({"type": "post", "text": "tea?", "tangles": {"chat": {"root": None, "previous": None}}}, 1)

    def answer(author: Author, text: str, at: int, *previous: dict) -> dict:
        claim = {"root": root["key"], "previous": [message["key"] for message in previous]}
        return author.publish({"type": "post", "text": text, "tangles": {"chat": claim}}, at)

    yes = answer(bob, "yes\x1b[31m", 2, root)
    when = answer(bob, "when?", 3, yes)
    now = answer(carol, "now", 4, when)
    return f"chat:{root['key']}", [root, yes, when, now]


def test_a_chat_updates_as_a_build_publishes(project, tmp_path, thread):
    timeline, messages = thread
    folder, path = tmp_path / "log", tmp_path / "chat.sqlite"
    folder.mkdir()
    built = project("chat", ssb_log=str(folder))

    def night(*arrived: dict) -> str:
        write(folder / f"{len([*folder.iterdir()])}.jsonl", list(map(to_line, arrived)))
        built.run("--select", *(f"+{model}" for model in MODELS))
        result = built.ask("follow", timeline, "--into", str(path))
        assert result.exit_code == 0, result.output
        return result.stdout

    root, yes, when, now = messages
    assert "loaded" in night(root, yes)
    assert show(path, timeline) == ["tea?", "yes [31m"]
    assert "2 commands of the latest update" in night(when, now)
    assert show(path, timeline) == ["tea?", "yes [31m", "when?", "now"]


def test_a_timeline_that_the_file_does_not_have(tmp_path):
    SqliteReplica(tmp_path / "x.sqlite").load("t", [], "p")
    words = [sys.executable, str(CHAT), str(tmp_path / "x.sqlite"), "other", "--once"]
    shown = subprocess.run(words, capture_output=True, text=True, check=False)
    assert shown.returncode == 1 and "no timeline other" in shown.stderr
