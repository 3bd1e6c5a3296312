"""The command `tangles` on the tables of the peer's log, a process for each question."""

import json
import os
import resource
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from statistics import median

import duckdb

from bench import builds
from bench.report import Part, at_most, say

NAME = "ask"
GOAL = 1.0  # seconds
#: Ids to ask about: a message that is set aside behind a missing one, that one, its tangle's root, and a line.
IDS = """
select
    tangle_messages.message_id as set_aside,
    tangle_messages.blocked_by[1] as missing,
    tangle_messages.root_id as root,
    tangle_messages.author as feed
from read_parquet('{tables}/tangle_messages/*.parquet') as tangle_messages
where set_aside_reason = 'previous_set_aside' and len(blocked_by) = 1
order by message_id
limit 1
"""


def run(options: Namespace) -> Part:
    """Measure each question; return the figures and the goals."""
    folder = builds.folder_of("peer", "sail") / "warehouse"
    if not folder.exists():
        builds.build("peer", builds.log_of("peer", options), engine="sail")
    messages = builds.count_rows(folder / "tangles.db" / "ssb_messages")
    results, goals = [], []
    for name, words in questions(str(folder)).items():
        runs = [ask(words, str(folder)) for _ in range(options.repeats)]
        cpu, wall = (round(median(each), 2) for each in zip(*runs, strict=True))
        # Other users of the machine delay the clock, but they do not shorten the best run.
        best = round(min(seconds for _, seconds in runs), 2)
        results.append({"question": name, "messages": messages, "cpu_s": cpu, "wall_s": wall, "best_wall_s": best})
        say(f"ask {name}: {cpu} CPU seconds, {wall} on the clock, {best} at best; load {os.getloadavg()[0]:.1f}")
        goals.append(at_most(f"{name}: CPU seconds", GOAL, cpu, options.scale == 1))
    return results, goals


def questions(warehouse: str) -> dict[str, list[str]]:
    """Return the arguments of each question."""
    found = duckdb.sql(IDS.format(tables=str(Path(warehouse) / "tangles.db").replace("'", "''")))
    about = dict(zip(found.columns, found.fetchone(), strict=True))
    return {
        "why, of one that is set aside": ["why", about["set_aside"][:12]],
        "why, of one that is missing": ["why", about["missing"]],
        "why, of an unknown one": ["why", "%nobody"],
        "status": ["status"],
        "show, of a tangle": ["show", about["root"][:12]],
        "show, of a feed": ["show", about["feed"][:12]],
        "show, of the whole log": ["show", "ssb:log"],
    }


def ask(words: list[str], warehouse: str) -> tuple[float, float]:
    """Run the command; return CPU seconds and seconds on the clock.

    Raises:
        RuntimeError: The exit code is neither 0 (found) nor 1 (not found).
    """
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", words[0], "--warehouse", warehouse, *words[1:], "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # The schema that this process was told to build into does not matter here.
    environ = {**os.environ, "TANGLES_SCHEMA": "tangles"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"tangles {' '.join(words)}: {done.stderr}")
    json.loads(done.stdout)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall
