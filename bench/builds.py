"""`dbt build` as a user runs it: a process of its own, a fresh warehouse, the settings of profiles.yml.

Each build runs once, because seconds on the clock count here. The tables stay under target/bench/builds.
"""

import json
import os
import shutil
import subprocess
import time
from argparse import Namespace
from pathlib import Path

import pyarrow.parquet as pq

from bench import logs
from bench.command import dbt_command
from bench.cpu import Spent, Watch, adopt_orphans, wait_for_orphans
from bench.machine import ROOT
from bench.report import RESULTS, Goal, at_most, say
from bench.session import ENGINES
from dbt_tangles.kernel_runtime.compiled import TIER, TIERS

NAME = "builds"
MEDIUM = ROOT / "tests" / "data" / "ssb" / "medium.jsonl.gz"
GOALS = {  # seconds
    "spark": {"fixtures": 90, "medium": 180, "peer": 600},
    "sail": {"fixtures": 20, "peer": 90},
}
#: The command of `make build`.
BUILD = ("build", "--exclude-resource-type", "unit_test")
PATIENCE = 15.0  # seconds between two lines of progress


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Build from each input; return the figures of each, and the goals."""
    adopt_orphans()
    results, goals = [], []
    for name in options.inputs:
        log = log_of(name, options)
        result = build(name, log, engine=options.engine)
        results.append(result)
        judged = log is None or options.scale == 1
        if goal := GOALS[options.engine].get(name):
            goals.append(at_most(f"{name}: seconds on the clock", goal, result["wall_s"], judged))
    return results, goals


def folder_of(name: str, engine: str = "spark") -> Path:
    """Return the folder of a build."""
    return RESULTS / NAME / (name if engine == "spark" else f"{name}-{engine}")


def log_of(name: str, options: Namespace) -> Path | None:
    """Return the log to build from; without one, the fixtures are built."""
    if name == "fixtures":
        return None
    whole = MEDIUM if name == "medium" else options.peer_log or logs.signed_log(suffix=".jsonl.gz")
    return logs.head(whole, options.scale)


def build(
    name: str,
    log: Path | None,
    variables: dict | None = None,
    command: tuple[str, ...] = BUILD,
    is_first: bool = True,
    engine: str = "spark",
) -> dict:
    """Run `dbt build`, or another command of dbt.

    Args:
        name: The name of the folder below target/bench/builds.
        log: The SSB log, or None for the fixtures.
        variables: dbt vars besides the log.
        command: dbt's command and selection.
        is_first: Whether to start with an empty warehouse, and not with the one that the last build left.
        engine: The engine that builds, `spark` or `sail`.

    Raises:
        RuntimeError: The build failed.
    """
    folder = folder_of(name, engine)
    if is_first:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    of_log = {"ssb_log": str(log.resolve())} if log else {}
    paths = folder / "target", folder / "logs"
    started = dbt_command(command, ENGINES[engine], *paths, of_log | (variables or {}))
    # Spark's catalog writes a log into the current folder.
    environ = {**os.environ, "TANGLES_WAREHOUSE": str(folder / "warehouse"), "TANGLES_SCHEMA": "tangles"}
    environ[TIER] = TIERS[0]  # as in a user's build
    say(f"builds {name}: dbt {command[0]}")
    with Watch() as watch:
        with watch.measure() as spent:
            code = run_dbt(name, started, environ, folder)
            finished = time.monotonic()
            wait_for_orphans()
            ended = time.monotonic()
        peaks = watch.peaks()
    spent.wall -= ended - finished  # users do not wait for the JVM to exit
    if code:
        raise RuntimeError(f"dbt {command[0]} of {name} failed: see {folder / 'output.txt'}")
    say(f"builds {name}: {spent.wall:.0f} s, {spent.total:.0f} CPU seconds, {peaks['all']} MiB in all")
    told = figures(name, log, spent, peaks, json.loads((folder / "target" / "run_results.json").read_text()))
    tables = folder / "warehouse" / "tangles.db"
    told |= {"messages": count_rows(tables / "ssb_messages"), "tables_mib": size_of(tables)}
    return told


def count_rows(table: Path) -> int | None:
    """Count the rows of a table that was built; None if it was not."""
    files = list(table.rglob("*.parquet"))
    return sum(pq.read_metadata(file).num_rows for file in files) if files else None


def size_of(folder: Path) -> float:
    """Return the MiB of all files below a folder."""
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20, 1)


def run_dbt(name: str, command: list[str], environ: dict[str, str], folder: Path) -> int:
    """Run dbt, keep its output, and repeat a line of it now and then; return its exit code."""
    said = time.monotonic()
    with (
        (folder / "output.txt").open("w") as output,
        subprocess.Popen(
            command, env=environ, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as dbt,
    ):
        for line in dbt.stdout:
            output.write(line)
            if time.monotonic() - said > PATIENCE and line.strip():
                said = time.monotonic()
                say(f"builds {name}: {line.strip()}")
    return dbt.returncode


def figures(name: str, log: Path | None, spent: Spent, peaks: dict[str, float], run_results: dict) -> dict:
    """Bring the figures of a build into one form; `peaks` as of `Watch.peaks`, `run_results` as dbt writes them."""
    return {
        "build": name,
        "log": log.name if log else None,
        "wall_s": round(spent.wall, 1),
        "cpu_s": round(spent.total, 1),
        "cpu_s_by_process": {kind: round(cpu, 1) for kind, cpu in spent.cpu.items()},
        "peak_mib": peaks,
        "nodes": len(run_results["results"]),
        "nodes_s": round(run_results["elapsed_time"], 1),
    }
