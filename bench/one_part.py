"""Run one benchmark in a process of its own."""

import argparse
import importlib
import os
import sys
import traceback

from bench import report
from dbt_tangles.kernel_runtime.compiled import TIER, TIERS


def run(name: str, options: argparse.Namespace) -> None:
    """Run a benchmark in this process, and write and print its report."""
    load = os.getloadavg()
    results, goals = importlib.import_module(f"bench.{name}").run(options)
    path = report.save(name, options, results, goals, load)
    for goal in goals:
        report.say(f"{name} on {options.engine}: {goal}")
    report.say(f"{name}: written to {os.path.relpath(path)}")


def run_or_explain(name: str, options: argparse.Namespace) -> None:
    """Run a benchmark as a process, with exit code 1 if it fails. Kernels are measured compiled, at any scale."""
    os.environ.setdefault(TIER, TIERS[1])
    try:
        run(name, options)
    except Exception as error:
        traceback.print_exc()
        report.save_failure(name, options.engine, f"{type(error).__name__}: {error}", report.folder_of(options))
        sys.exit(1)
