"""Depths, pairs of ancestors and components by other tools: graph libraries, and DuckDB's recursive SQL.

Each tool has a process of its own, starts from the same parquet file of candidates, and ends with a number that depends
on every message. The shapes consist of members only, so the tools need not determine membership; this project's kernel
does so all the same, and finds the orders and redundant links as well. A tool that exceeds its time or memory at one
size is not asked at the next.
"""

import itertools
import json
import resource
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pyarrow.parquet as pq

from bench.machine import ROOT
from bench.one_tool import QUESTIONS, TOOLS
from bench.report import RESULTS, Goal, say
from bench.shapes import shape

NAME = "others"
SHAPES = {"W": (1_000, 10_000, 100_000, 1_000_000), "D": (1_000, 10_000, 100_000, 524_288)}
PATIENCE = 60  # CPU seconds
MEMORY = 8 * 2**30  # bytes of address space


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Ask all tools at growing sizes; return the figures, without goals.

    Raises:
        RuntimeError: Two tools disagree.
    """
    results = []
    for question, shape_name in itertools.product(QUESTIONS, options.shapes or SHAPES):
        exhausted: set[str] = set()
        for size in SHAPES.get(shape_name, ()):
            nodes = max(int(size * options.scale), 1)
            file = stored(shape_name, nodes)
            found = {tool: ask(question, tool, file) for tool in TOOLS if tool not in exhausted}
            exhausted |= {tool for tool, answer in found.items() if "answer" not in answer}
            if len({answer["answer"] for answer in found.values() if "answer" in answer}) > 1:
                raise RuntimeError(f"{question}, {shape_name}, {nodes:,} messages: the tools disagree: {found}")
            told = ", ".join(f"{tool} {answer.get('cpu_s', answer.get('ended'))}" for tool, answer in found.items())
            say(f"others {question}, {shape_name}, {nodes:,} messages: CPU seconds: {told}")
            given = {"question": question, "shape": shape_name, "messages": nodes}
            results += [{**given, "who": tool, **answer} for tool, answer in found.items()]
    return results, []


def stored(name: str, nodes: int) -> Path:
    """Write a shape of about `nodes` messages, unless it exists already."""
    file = RESULTS / NAME / f"{name}-{nodes}.parquet"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(shape(name, nodes / SHAPES[name][-1]), file)
    return file


def ask(question: str, tool: str, file: Path) -> dict:
    """Let a tool answer in a process of its own; return its cost, or the way it ended without an answer."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run(
        [sys.executable, "-m", "bench.one_tool", question, tool, str(file)],
        cwd=ROOT,
        preexec_fn=bound,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):  # the limit, whatever the earlier warnings
        return {"ended": f"over {PATIENCE} s"}
    said = done.stderr.strip().splitlines()
    return {"ended": said[-1][:200] if said else f"exit code {done.returncode}"}
