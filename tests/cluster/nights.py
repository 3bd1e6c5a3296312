"""Nights of a growing log on Iceberg or Delta Lake, on one machine and on a cluster: `make cluster-nights`.

`python -m tests.cluster nights [--format iceberg|delta] [--lines N] [--var NAME=VALUE] [--select …] [STAGE ...]` has
these stages, each with tables of its own below target/cluster-nights:

* `machine`, `cluster`: `dbt run` over 97 % of the log, over 98 %, and over the same lines again. The share of the
  second run is its CPU seconds divided by those of the first run, both above those of the third.
* `faults`: a night with 2 % more for each fault of `make cluster-faults`, or for those of --fault (`night_faults`).
* `targets`: the three runs of `machine` on the targets `cluster`, `connect` and `thrift`, whose catalog is one of the
  format; all tables must have the rows of the format's own target on one machine.

The exit code is 0 if all tables have the same rows, each fault happened, and the share on the cluster is at most 0.05
above that on one machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from bench.command import check_names
from bench.cpu import Watch, adopt_orphans
from bench.machine import ROOT
from bench.report import say
from tests.cluster.night_faults import MODELS, endure_faults
from tests.cluster.night_runs import NightRuns, Place
from tests.cluster.night_targets import compare_targets
from tests.cluster.servers import Cluster

FOLDER = ROOT / "target" / "cluster-nights"
LOG = ROOT / "tests" / "data" / "ssb" / "medium.jsonl.gz"
LINES = 20_000
#: The places, each with tables of its own.
MACHINE, CLUSTER = PLACES = ("machine", "cluster")
STAGES = (*PLACES, "faults", "targets")
#: The measured runs, and the fraction of the log that each reads.
NIGHTS = {"everything": 0.97, "1 % more": 0.98, "nothing new": 0.98}
#: The largest difference between the shares of a night on the cluster and on one machine.
SURPLUS = 0.05


def parse(argv: Sequence[str]):
    """Parse the command line; return the work, whose result is the differences that a comparison found."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster nights", description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"{', '.join(STAGES)} (default: all)")
    parser.add_argument("--format", choices=("iceberg", "delta"), default="iceberg", help="(default: %(default)s)")
    parser.add_argument("--lines", type=int, default=LINES, help=f"of {LOG.name} (default: %(default)s)")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="a var of dbt")
    parser.add_argument("--select", help="build only that, as dbt takes it; at least +timeline_events")
    parser.add_argument("--fault", action="append", default=[], choices=MODELS, help="(default: all)")
    options = parser.parse_args(argv)
    check_names(parser, "stage", options.stages, STAGES)
    return lambda: run(options)


def run(options: argparse.Namespace) -> list[str]:
    """Run the stages; return the differences that a comparison found."""
    adopt_orphans()
    with gzip.open(LOG, "rb") as file:
        lines = list(islice(file, options.lines))
    stages = options.stages or STAGES
    command = ["run", *(["--select", *options.select.split()] if options.select else [])]
    variables = dict(each.split("=", 1) for each in options.var)
    nights = NightRuns(FOLDER / options.format, options.format, lines, command, variables)
    for name in {*PLACES} & {*stages}:
        shutil.rmtree(nights.folder / name, ignore_errors=True)
    if MACHINE in stages:
        measure(nights, nights.on_machine(MACHINE))
    if CLUSTER in stages:
        with Cluster(FOLDER / "servers") as cluster:
            measure(nights, nights.on_cluster(CLUSTER, cluster))
    said = compare_shares(nights.folder)
    if "faults" in stages:
        said += endure_faults(nights, 0.98, 1.0, options.fault)
    if "targets" in stages:
        said += compare_targets(nights, [*NIGHTS.values()])
    for line in said:
        say(line)
    return said


def measure(nights: NightRuns, place: Place) -> None:
    """Run the measured nights in a place; write the CPU seconds of all processes into a file."""
    figures = {}
    for night, fraction in NIGHTS.items():
        with Watch() as watch, watch.measure() as spent, nights.start(place, fraction) as build:
            build.end()
            # Also of the processes that a build left, such as its JVM; orphans are children of this process.
            with suppress(ChildProcessError):
                while True:
                    os.waitpid(-build.process.pid, 0)
        figures[night] = spent.total
        parts = ", ".join(f"{kind} {cpu:.1f}" for kind, cpu in spent.cpu.items())
        say(f"{place.name}: {night}: {spent.total:.1f} CPU s ({parts})")
    (nights.folder / place.name / "figures.json").write_text(json.dumps(figures))


def compare_shares(folder: Path) -> list[str]:
    """Compare the shares of both places, if both were measured; return a line if the cluster's is too large."""
    files = [folder / name / "figures.json" for name in PLACES]
    if not all(file.exists() for file in files):
        return []
    machine, cluster = (share(json.loads(file.read_text())) for file in files)
    say(f"share of 1 % more: {machine:.3f} on one machine, {cluster:.3f} on the cluster")
    return [] if cluster <= machine + SURPLUS else [f"the share on the cluster is more than {SURPLUS} above the other"]


def share(figures: Mapping[str, float]) -> float:
    return (figures["1 % more"] - figures["nothing new"]) / (figures["everything"] - figures["nothing new"])
