"""The command `tangles` on a warehouse of a million messages, one process for each question."""

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
    """Measure each question; return the figures and the goals."""
    messages = max(round(MESSAGES * options.scale / ask_tables.FEEDS), 2) * ask_tables.FEEDS
    judged = options.scale == 1
    results, goals = [], []
    with tempfile.TemporaryDirectory() as warehouse:
        say(f"ask: writing tables of {messages:,} messages")
        about = ask_tables.write(Path(warehouse) / "tangles.db", messages)
        for name, words in questions(about, warehouse).items():
            runs = [ask(words, warehouse) for _ in range(options.repeats)]
            cpu, wall = (round(median(each), 2) for each in zip(*runs, strict=True))
            # Other users of the machine delay the clock, but they do not shorten the best run.
            best = round(min(seconds for _, seconds in runs), 2)
            results.append({"question": name, "messages": messages, "cpu_s": cpu, "wall_s": wall, "best_wall_s": best})
            say(f"ask {name}: {cpu} CPU seconds, {wall} on the clock, {best} at best; load {os.getloadavg()[0]:.1f}")
            if words[0] != "diff":
                goals.append(at_most(f"{name}: CPU seconds", GOAL, cpu, judged))
                goals.append(at_most(f"{name}: seconds on the clock, at best", GOAL, best, judged))
    return results, goals


def questions(about: dict[str, str], warehouse: str) -> dict[str, list[str]]:
    """Return the arguments of each question, about the ids that `ask_tables.write` returns."""
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
    """Run the command; return CPU seconds and seconds on the clock.

    Raises:
        RuntimeError: The exit code is neither 0 (found) nor 1 (not found).
    """
    place = [] if words[0] == "diff" else ["--warehouse", warehouse]
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", words[0], *place, *words[1:], "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # The schema that this process was told to build into does not matter here.
    environ = {**os.environ, "TANGLES_SCHEMA": "tangles"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"tangles {' '.join(words)}: {done.stderr}")
    json.loads(done.stdout)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall
