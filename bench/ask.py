"""The command `tangles` on a warehouse of a million messages, each time as a process of its own, as people run it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from statistics import median

from bench import ask_tables
from bench.report import Goal, at_most, say

NAME = "ask"
MESSAGES = 1_000_000
GOAL = 1.0  # seconds


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure each question; the figures, and the goals."""
    messages = max(round(MESSAGES * options.scale / ask_tables.FEEDS), 2) * ask_tables.FEEDS
    judged = options.scale == 1
    results, goals = [], []
    with tempfile.TemporaryDirectory() as warehouse:
        say(f"ask: writing tables of {messages:,} messages")
        about = ask_tables.write(Path(warehouse) / "tangles.db", messages)
        for name, words in questions(about, warehouse).items():
            runs = [ask(words, warehouse) for _ in range(options.repeats)]
            cpu, wall = (round(median(each), 2) for each in zip(*runs, strict=True))
            # Others who use the machine make the clock go on; they do not make the best of the runs better.
            best = round(min(seconds for _, seconds in runs), 2)
            results.append({"question": name, "messages": messages, "cpu_s": cpu, "wall_s": wall, "best_wall_s": best})
            say(f"ask {name}: {cpu} CPU seconds, {wall} on the clock, {best} at best; load {os.getloadavg()[0]:.1f}")
            if words[0] != "diff":
                goals.append(at_most(f"{name}: CPU seconds", GOAL, cpu, judged))
                goals.append(at_most(f"{name}: seconds on the clock, at best", GOAL, best, judged))
    return results, goals


def questions(about: dict[str, str], warehouse: str) -> dict[str, list[str]]:
    """Name what is asked, about what `ask_tables.write` returns."""
    return {
        "why, of one that is set aside": ["why", about["set_aside"][:12]],
        "why, of one that is missing": ["why", about["missing"]],
        "why, of what nobody knows": ["why", "%nobody"],
        "why, of a line of the log": ["why", "--line", about["line"]],
        "status": ["status"],
        "show, of a tangle": ["show", about["root"][:12]],
        "show, of a feed": ["show", about["feed"][:12]],
        "show, of the whole log": ["show", "ssb:log"],
        "diff": ["diff", warehouse, warehouse],
    }


def ask(words: list[str], warehouse: str) -> tuple[float, float]:
    """Run the command; CPU seconds, and seconds on the clock.

    Raises:
        RuntimeError: It ends otherwise than by finding something, or nothing.
    """
    place = [] if words[0] == "diff" else ["--warehouse", warehouse]
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", words[0], *place, *words[1:], "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Whatever schema this process was told to build into.
    environ = {**os.environ, "TANGLES_SCHEMA": "tangles"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"tangles {' '.join(words)}: {done.stderr}")
    json.loads(done.stdout)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall
