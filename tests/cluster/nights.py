"""Nights of a growing log on Iceberg or Delta Lake, on one machine and on a cluster: `make cluster-nights`.

`python -m tests.cluster nights [--format iceberg|delta] [--log FILE] [--lines N] [--var NAME=VALUE] [--select …]
[STAGE ...]` has these stages, which continue from the tables that earlier ones left below target/cluster-nights:

* `machine`, `cluster`: `dbt run` over 97 % of the log, over 98 %, and over the same lines again. The share of the
  second run is its CPU seconds divided by those of the first run, both above those of the third.
* `read`: a night with 1 % more on the cluster, while another process reads tables in a loop; each reading must equal
  the rows before the night or after it. The night also runs on one machine; then all tables must have the same rows.
* `faults`: a night with 2 % more for each fault of `make cluster-faults`, or for those of --fault, on a cluster of its
  own; each begins from the same tables. The faults happen in the middle of Python models and, on Iceberg, of merges of
  changed groups. The tables must have the rows of that night on one machine. After a failed run, group versions and
  working sets are left out of this comparison.
* `targets`: the three runs of `machine`, first on the format's own target on one machine, then on each of the targets
  `cluster`, `connect` and `thrift`, whose catalog is one of the format. All tables must have the same rows.

Before `read`, a place without tables gets those of 98 % of the log. After a change of code, first delete the tables of
earlier runs, because that night would rebuild them in full. `faults` and `targets` make their own tables. The exit code
is 0 if all tables have the same rows, each fault happened, and the share on the cluster is at most 0.05 above that on
one machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from bench.command import check_names, run_guarded
from bench.cpu import Watch, adopt_orphans
from bench.machine import ROOT
from bench.report import say
from tests.cluster.build import BuildError
from tests.cluster.fault_injection import Missed
from tests.cluster.night_faults import MODELS, endure_faults
from tests.cluster.night_reader import check_readings, reading
from tests.cluster.night_runs import CLUSTER, MACHINE, PLACES, NightRuns
from tests.cluster.night_targets import compare_targets
from tests.cluster.servers import Cluster, ServerError

FOLDER = ROOT / "target" / "cluster-nights"
MEDIUM = ROOT / "tests" / "data" / "ssb" / "medium.jsonl.gz"
LINES = 20_000
STAGES = (*PLACES, "read", "faults", "targets")
#: The measured runs, and the fraction of the log that each reads.
NIGHTS = {"everything": 0.97, "1 % more": 0.98, "nothing new": 0.98}
#: The largest difference between the shares of a night on the cluster and on one machine.
SURPLUS = 0.05
#: The fraction of the log that the night with a reader reads.
READ = 0.99
#: The fractions of the log before each night with a fault, and after it.
STRUCK = 0.98, 1.0


def main(argv: Sequence[str]) -> int:
    """Run the command; return 1 if a stage failed or a comparison found a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster nights", description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"{', '.join(STAGES)} (default: all)")
    parser.add_argument("--format", choices=("iceberg", "delta"), default="iceberg", help="(default: %(default)s)")
    parser.add_argument("--log", type=Path, default=MEDIUM, help="an SSB log (default: the medium one of the tests)")
    parser.add_argument("--lines", type=int, default=LINES, help="use so many of its lines (default: %(default)s)")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="a var of dbt")
    parser.add_argument("--select", help="build only that, as dbt takes it; at least +timeline_events")
    parser.add_argument("--fault", action="append", default=[], choices=MODELS, help="(default: all)")
    options = parser.parse_args(argv)
    check_names(parser, "stage", options.stages, STAGES)
    return run_guarded("cluster-nights", lambda: run(options), (BuildError, Missed, ServerError))


def run(options: argparse.Namespace) -> int:
    """Run the stages; return 1 if a comparison found a difference."""
    adopt_orphans()
    with (gzip.open if options.log.suffix == ".gz" else open)(options.log, "rb") as file:
        lines = list(islice(file, options.lines))
    stages, command = options.stages or STAGES, ["run"]
    if options.select:
        command += ["--select", *options.select.split()]
    variables = dict(each.split("=", 1) for each in options.var)
    nights = NightRuns(FOLDER / options.format, options.format, lines, command, variables)
    for name in {*PLACES} & {*stages}:
        shutil.rmtree(nights.folder / name, ignore_errors=True)
    if MACHINE in stages:
        measure(nights)
    if CLUSTER in stages:
        with Cluster(FOLDER / "servers") as cluster:
            measure(nights, cluster)
    said = compare_shares(nights.folder)
    if "read" in stages:
        said += read_during_night(nights)
    if "faults" in stages:
        said += endure_faults(nights, *STRUCK, options.fault)
    if "targets" in stages:
        said += compare_targets(nights, [*NIGHTS.values()])
    for line in said:
        say(line)
    return int(bool(said))


def measure(nights: NightRuns, cluster: Cluster | None = None) -> None:
    """Run the measured nights on a cluster or on this machine; write the CPU seconds of all processes into a file."""
    name, figures = CLUSTER if cluster else MACHINE, {}
    for night, fraction in NIGHTS.items():
        with Watch() as watch, watch.measure() as spent, nights.start(fraction, cluster) as build:
            seconds = build.end()
            wait_for_group(build.process.pid)
        figures[night] = spent.total
        parts = ", ".join(f"{kind} {cpu:.1f}" for kind, cpu in spent.cpu.items())
        say(f"{name}: {night}: {spent.total:.1f} CPU s ({parts}), {seconds:.0f} s on the clock")
    (nights.folder / name / "figures.json").write_text(json.dumps(figures))


def wait_for_group(group: int) -> None:
    """Wait for the processes that a build left, such as its JVM; orphans are children of this process."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def compare_shares(folder: Path) -> list[str]:
    """Compare the shares of both places, if both were measured; return a line if the cluster's is too large."""
    files = [folder / name / "figures.json" for name in PLACES]
    if not all(file.exists() for file in files):
        return []
    machine, cluster = (share(json.loads(file.read_text())) for file in files)
    say(f"share of 1 % more: {machine:.3f} on one machine, {cluster:.3f} on the cluster")
    return [] if cluster <= machine + SURPLUS else [f"the share on the cluster is more than {SURPLUS} above the other"]


def share(figures: Mapping[str, float]) -> float:
    """Return the CPU seconds of the second run as a share of the first run's, both above those of the third."""
    return (figures["1 % more"] - figures["nothing new"]) / (figures["everything"] - figures["nothing new"])


def catch_up(nights: NightRuns, cluster: Cluster) -> None:
    """Make the tables of a place that has none."""
    for name, place in {MACHINE: None, CLUSTER: cluster}.items():
        if not nights.has_tables(name):
            say(f"{name}: first tables, {nights.run(NIGHTS['nothing new'], place):.0f} s")


def read_during_night(nights: NightRuns) -> list[str]:
    """Run a night on a cluster beside a reader, and the same night on one machine; return faults and differences."""
    with Cluster(FOLDER / "servers") as cluster:
        catch_up(nights, cluster)
        with reading(nights) as file:
            say(f"read: {nights.run(READ, cluster):.0f} s")
    nights.run(READ)
    return check_readings(file) + nights.compare_tables()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
