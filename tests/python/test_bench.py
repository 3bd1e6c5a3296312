"""The benchmarks: each part in small, the failing path of each check, and made inputs against the oracles."""

import importlib
import json
import random
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import (
    autobase,
    autobase_bases,
    limit,
    one_part,
    page,
    peer,
    pzp_peer,
    report,
    sets,
    timelines,
)
from bench.cpu import Watch
from bench.evaluation import counts
from conftest import ROOT
from fixtures.ssb.author import Author, to_line

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU seconds are read from /proc")

# ---------------------------------------------------------------------------------------------------------------------
# Each part in small


def run_small(name: str, *words: str) -> tuple[list[dict], list[report.Goal]]:
    options = command.parse([name, "--repeats", "1", *words])
    options.engine = "sail"
    results, goals = importlib.import_module(f"bench.{name}").run(options)
    assert results and goals and all(goal.met is None for goal in goals)
    return results, goals


@pytest.mark.parametrize(
    ("name", "scale", "parts"),
    [
        ("graphs", "0.0002", {None}),
        pytest.param("timelines", "0.003", {"order", "peer", "growth", "shapes", "online"}, marks=pytest.mark.long),
        pytest.param("sets", "0.01", {"kernel", "growth", "peer"}, marks=pytest.mark.long),
        ("autobase", "0.01", {"kernel", "kernel_growth", "stalled", "stalled_growth"}),
    ],
)
def test_parts_without_an_engine(name, scale, parts):
    results, _ = run_small(name, "--scale", scale)
    assert {row.get("part") for row in results} == parts


def run_on_sail(name: str, *words: str) -> tuple[int, str, Path]:
    words = [name, "--engines", "sail", "--repeats", "1", *words]
    done = subprocess.run([sys.executable, "-m", "bench", *words], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stderr, report.RESULTS / f"{name}-sail.json"


@pytest.mark.long
@pytest.mark.sail
def test_all_models_and_their_limits_are_measured():
    code, said, file = run_on_sail("limit", "--scale", "0.0002")
    assert code == 0, said
    results = json.loads(file.read_text())["results"]
    assert [(found["model"], found["shape"]) for found in results] == [(each.name, each.shape) for each in limit.MODELS]
    assert all(found["rows"] > 0 and found["found"]["cpu_s"] >= 0 <= found["limit"]["cpu_s"] for found in results)


@pytest.mark.sail
@pytest.mark.parametrize("damage", [pytest.param(b"7", marks=pytest.mark.long), b"8"])
def test_a_log_is_measured_unless_it_has_damage(tmp_path, damage):
    author, log = Author.from_seed("bench"), tmp_path / "log.jsonl"
    lines = [to_line(author.publish({"type": "post", "text": str(n)}, n)) for n in range(20)]
    log.write_bytes(b"\n".join(lines).replace(b'"text":"7"', b'"text":"%b"' % damage))
    code, said, file = run_on_sail("verify", "--log", str(log))
    if damage == b"7":
        assert code == 0, said
        assert json.loads(file.read_text())["results"][0]["lines"] == 20
    else:
        assert code == 1 and "19 of 20 messages are usable; give a log without damage or copies" in said


@pytest.mark.long
def test_the_evaluation_writes_its_counts(monkeypatch, tmp_path):
    """Tables, CSV files and plots; the second run counts no case again and writes the same."""
    monkeypatch.setattr(counts, "RESULTS", tmp_path)
    monkeypatch.setattr(counts, "PEER_FEEDS", {4 * counts.K: (4, 16), 8 * counts.K: (4,)})
    options = command.parse(["evaluation", "--scale", "0.003"])
    results, goals = counts.run(options)
    assert all(goal.met for goal in goals)
    folder = tmp_path / "evaluation" / "scale-0.003"
    names = [result["table"] for result in results]
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert written.keys() == {"README.md", "sizes.svg", "batches.svg", "repetitions.svg", *(f"{n}.csv" for n in names)}
    monkeypatch.setattr(counts, "count_case", None)
    monkeypatch.setattr(counts, "run_peer", None)
    counts.run(options)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written


# ---------------------------------------------------------------------------------------------------------------------
# The failing path of each check


def test_another_result_than_the_peers_fails(monkeypatch):
    made = timelines.make_log(64, 4)
    theirs = peer.run(made)
    monkeypatch.setattr(peer, "run", lambda timelines: theirs._replace(order=theirs.order[::-1]))
    with pytest.raises(RuntimeError, match="the peer ends in another order"):
        timelines.compare_with_peer(made, 1)
    monkeypatch.setattr(pzp_peer, "node", lambda: "node")
    monkeypatch.setattr(pzp_peer, "run", lambda asked: pzp_peer.Run(["another item"], 1.0))
    with pytest.raises(RuntimeError, match="the peer's algorithm finds other items"):
        sets.beside_the_peer(0.01, 1)
    rows = {"peer": [{"shortest": 2, "peer": 1, "orders_differ": True}]}
    assert [goal.met for goal in counts.goals(rows)] == [False, False]


def test_without_node_the_comparison_is_left_out(monkeypatch):
    monkeypatch.setattr(pzp_peer, "node", lambda: None)
    assert sets.beside_the_peer(0.01, 1) == ([{"part": "peer", "left_out": "no node on the PATH"}], [])


def test_stalled_nodes_that_settle_fail(monkeypatch):
    settles = {"gossip": lambda count, indexers: autobase_bases.gossip(count, indexers, random.Random(1))}
    monkeypatch.setattr(autobase, "STALLED", settles)
    with pytest.raises(RuntimeError, match="nodes are settled, but none should be"):
        autobase.stalled(0.01, 1)


def test_missed_goals_and_failures_are_reported(monkeypatch, tmp_path, capsys):
    options = Namespace(scale=1.0, repeats=3, engine="sail")
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    monkeypatch.setitem(sys.modules, "bench.stub", stub := Namespace())
    stub.run = lambda options: ([], [report.at_most("ratio", 2, 3), report.at_least("rate", 9, 9)])
    one_part.run_or_explain("stub", options)
    assert [goal["met"] for goal in json.loads((tmp_path / "stub-sail.json").read_text())["goals"]] == [False, True]
    assert "ratio: 3 (goal: at most 2; MISSED)" in capsys.readouterr().out
    stub.run = lambda options: 1 / 0
    with pytest.raises(SystemExit) as stopped:
        one_part.run_or_explain("stub", options)
    assert stopped.value.code == 1
    assert json.loads((tmp_path / "stub-sail-failed.json").read_text())["error"].startswith("ZeroDivisionError")
    killed = Namespace(start=lambda: None, join=lambda: None, exitcode=-9)
    monkeypatch.setattr(
        command.multiprocessing, "get_context", lambda method: Namespace(Process=lambda **given: killed)
    )
    assert not command.run_apart("stub", options)
    assert "-9" in json.loads((tmp_path / "stub-sail-failed.json").read_text())["error"]


def test_the_figures_of_each_part_are_laid_out(tmp_path):
    (tmp_path / "sets.json").write_text((report.FIGURES / "sets.json").read_text())
    text = page.text(tmp_path)
    assert re.findall(r"^### (\w+)$", text, re.M) == list(page.PARTS)
    assert "| graphs | not measured |" in text and "| messages | CPU s | messages a CPU s |" in text


# ---------------------------------------------------------------------------------------------------------------------
# What is measured


BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
IGNORED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
burnt, says = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os.write(says, b"!")
    time.sleep(1)  # to be looked at
    os._exit(0)
os.read(burnt, 1)
time.sleep(1.2)
"""


@linux
@pytest.mark.parametrize("script", [BURN, IGNORED], ids=["child", "ignored_grandchild"])
def test_cpu_seconds_of_all_processes_count(script):
    """PySpark's daemon ignores the end of its workers, so the kernel's counters lose their seconds."""
    with Watch(interval=0.05) as watch, watch.measure() as spent:
        subprocess.run([sys.executable, "-c", script], check=True)
    assert spent.total > 0.25
    assert spent.wall > 0
    assert watch.peaks()["driver"] > 0
