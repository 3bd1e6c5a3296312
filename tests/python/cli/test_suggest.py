"""Commands that answers suggest: they lead to the same tables, and a shell runs them as they are."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse, tangles
from dbt_tangles.cli.suggest import Ask, quote, words_of
from report_kit import shard

ODD = HOSTILE.replace("\x00", "") + "'\\ $(reboot) `x`"


def pasted(command: str, cwd) -> list[str]:
    program = "import json, sys; print(json.dumps(sys.argv[1:]))"
    script = f'tangles() {{ {shlex.quote(sys.executable)} -c {shlex.quote(program)} "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", script], cwd=cwd, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("word", ["a", "", "a b", "it's", ODD, "é\u2028", "-x", "%a/b+c=.sha256"])
def test_a_shell_reads_a_quoted_word_as_it_was(tmp_path, word):
    assert quote(word).isprintable()
    assert pasted(f"tangles {quote(word)}", tmp_path) == [word]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (Ask.of("why", "%a"), ["why", "%a", "--schema", "s"]),
        (Ask.of("why", "-f:3"), ["why", "--schema", "s", "--", "-f:3"]),
        (Ask.of("show", "b", "--kind", "base"), ["show", "b", "--kind", "base", "--schema", "s"]),
        (Ask.of("show", "--kind", "--kind", "base"), ["show", "--kind", "base", "--schema", "s", "--", "--kind"]),
        (Ask("status", options=("--verify",)), ["status", "--verify", "--schema", "s"]),
    ],
)
def test_words(tmp_path, ask, words):
    assert pasted(f"tangles {words_of(ask, ['--schema', 's'])}", tmp_path) == words


@pytest.fixture
def warehouse(tmp_path, monkeypatch) -> Warehouse:
    """Write a log whose files, bases and authors have names that a shell would misread."""
    monkeypatch.chdir(tmp_path)
    for name in ("TANGLES_WAREHOUSE", "TANGLES_SCHEMA"):
        monkeypatch.delenv(name, raising=False)
    warehouse = story.write(tmp_path / "my wh")
    warehouse.write("ssb_rejects", {"source_file": f"/logs/{ODD}", "line": 3, "reason": "malformed_json"})
    warehouse.write("autobase_bases", {"base_id": "-b; reboot", "status": "incomplete"})
    warehouse.write("feeds", story.feed(story.ALICE, 3, story.A2) | {"status": "gap", "gap_sequence": 2})
    return warehouse


def suggested(*words: str, env: dict | None = None) -> list[str]:
    return [item["ask"] for item in json.loads(tangles(*words, env=env).stdout)["look_at"]]


def test_each_suggestion_of_status_finds_its_problem(warehouse, tmp_path):
    asks = suggested("status", "--json", "--warehouse", "my wh", "--schema", "tangles")
    assert len(asks) == 4
    for ask in asks:
        words = pasted(ask, tmp_path)
        assert words[words.index("--warehouse") + 1] == "my wh" and "--schema" not in words
        result = tangles(*words)
        assert result.exit_code in (0, 1) and not re.search("does not|matches|no file", result.output), (ask, result)


def test_a_suggestion_repeats_the_options_of_the_tables(warehouse):
    """The environment stays as it is in the shell, unless an option overrides it."""
    (warehouse.root / "tangles.db").rename(warehouse.root / "other.db")
    options = "--warehouse", "my wh", "--schema", "other"
    equal = {"TANGLES_WAREHOUSE": "my wh", "TANGLES_SCHEMA": "other"}
    # A build sets the variables of its own process, so that they equal the options.
    for env in ({}, {"TANGLES_WAREHOUSE": "elsewhere", "TANGLES_SCHEMA": "another"}, equal):
        asks = suggested("status", "--json", *options, env=env)
        assert asks and all("--warehouse 'my wh' --schema other" in ask for ask in asks)
    asks = suggested("status", "--json", env=equal)
    assert asks and not [ask for ask in asks if "--warehouse" in ask or "--schema" in ask]
    # A report is read elsewhere, too.
    for words, env in ((options, {}), ((), equal)):
        assert tangles("report", "--out", "report", *words, env=env).exit_code == 0
        (problem, *_) = shard(Path("report"), "glance")["look_at"]
        assert "--warehouse 'my wh' --schema other" in problem["ask"]


def test_no_options_for_the_default_tables(warehouse, tmp_path):
    warehouse.root.rename(tmp_path / "warehouse")
    for words in ([], ["--warehouse", "warehouse"]):
        assert not [ask for ask in suggested("status", "--json", *words) if "--warehouse" in ask]
    env = {"TANGLES_WAREHOUSE": "elsewhere"}
    asks = suggested("status", "--json", "--warehouse", "warehouse", env=env)
    assert all("--warehouse warehouse" in ask for ask in asks)


def test_other_commands_suggest_the_same_tables(warehouse, tmp_path):
    unknown = tangles("show", story.ROOT, "--warehouse", "gone", "--schema", "s")
    assert "tangles build LOG --warehouse gone --schema s" in unknown.output and "make build" not in unknown.output
    (tmp_path / "peer.json").write_text('["%unknown"]')
    sent = tangles("send", "--to", "peer.json", "--warehouse", "my wh")
    assert "`tangles send --to peer.json --ask --warehouse 'my wh'` lists the ranges" in sent.output
    differing = tangles("diff", "my wh", "gone")
    assert "tangles build LOG --warehouse gone" in differing.output


def test_the_program_is_named_as_the_shell_finds_it(warehouse, tmp_path):
    script = tmp_path / "bin" / "tangles"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom dbt_tangles.cli.cli import main\nmain()\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    for path, program in (("/nowhere", "bin/tangles"), (str(script.parent), "tangles")):
        command = [str(script) if program == "tangles" else "bin/tangles", "status", "--json", "--warehouse", "my wh"]
        done = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)
        (ask, *_) = [item["ask"] for item in json.loads(done.stdout)["look_at"]]
        assert ask.startswith(f"{program} why ")
