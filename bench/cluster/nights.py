"""Nights of a growing log on Iceberg, on one machine and on a cluster: `make cluster-nights`.

`python -m bench.cluster nights [--log FILE] [--lines N] [--select …] [STAGE ...]` has these stages, which continue from
the tables that earlier ones left below target/cluster-nights:

* `machine`, `cluster`: `dbt run` over 97 % of the log, over 98 %, and over the same lines again. The share of the
  second run is its CPU seconds divided by those of the first run, both above those of the third.
* `read`: a night with 1 % more on the cluster, while another process reads tables in a loop; each reading must equal
  the rows before the night or after it. The night also runs on one machine; then all tables must have the same rows.

The exit code is 0 if they do, and if the share on the cluster is at most 0.05 above that on one machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from bench.cluster.build import Build, BuildError
from bench.cluster.servers import Cluster, ServerError
from bench.command import check_names, run_guarded
from bench.cpu import Watch, adopt_orphans
from bench.machine import ROOT
from bench.report import say
from bench.same_tables import compare

FOLDER = ROOT / "target" / "cluster-nights"
MEDIUM = ROOT / "tests" / "data" / "ssb" / "medium.jsonl.gz"
LINES = 20_000
STAGES = ("machine", "cluster", "read")
#: The measured runs, and the fraction of the log that each reads.
NIGHTS = {"everything": 0.97, "1 % more": 0.98, "nothing new": 0.98}
#: The largest difference between the shares of a night on the cluster and on one machine.
SURPLUS = 0.05
#: The fraction of the log that the night with a reader reads.
READ = 0.99
#: Public tables of several layers, which change in each night.
WATCHED = ("ssb_messages", "feeds", "feed_messages", "tangle_messages", "timeline_events")


def main(argv: Sequence[str]) -> int:
    """Run the command; return 1 if a stage failed or a comparison found a difference."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster nights", description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"{', '.join(STAGES)} (default: all)")
    parser.add_argument("--log", type=Path, default=MEDIUM, help="an SSB log (default: the medium one of the tests)")
    parser.add_argument("--lines", type=int, default=LINES, help="use so many of its lines (default: %(default)s)")
    parser.add_argument("--select", help="build only that, as dbt takes it; at least +timeline_events")
    options = parser.parse_args(argv)
    check_names(parser, "stage", options.stages, STAGES)
    return run_guarded("cluster-nights", lambda: run(options), (BuildError, ServerError))


def run(options: argparse.Namespace) -> int:
    """Run the stages; return 1 if a comparison found a difference."""
    adopt_orphans()
    with (gzip.open if options.log.suffix == ".gz" else open)(options.log, "rb") as file:
        lines = list(islice(file, options.lines))
    stages, command = options.stages or STAGES, ["run"]
    if options.select:
        command += ["--select", *options.select.split()]
    for name in {"machine", "cluster"} & {*stages}:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
    if "machine" in stages:
        measure("machine", on_machine(), lines, command)
    if "cluster" in stages:
        with Cluster(FOLDER / "servers") as cluster:
            measure("cluster", on_cluster(cluster), lines, command)
    said = compare_shares()
    if "read" in stages:
        said += read_during_night(write_log(lines, READ), command) + compare_tables()
    for line in said:
        say(line)
    return int(bool(said))


def write_log(lines: list[bytes], fraction: float) -> Path:
    """Write the log of a night, which has the same path in each night."""
    path = FOLDER / "growing.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines[: round(len(lines) * fraction)]))
    return path


def on_machine() -> dict[str, str]:
    """Return the environment for runs on one machine, with as many cores as the cluster has."""
    return _environ({**os.environ, "TANGLES_MASTER": "local[2]"}, "machine")


def on_cluster(cluster: Cluster) -> dict[str, str]:
    """Return the environment for runs on a cluster."""
    return _environ(cluster.environ(TANGLES_MASTER=cluster.master), "cluster")


def _environ(environ: Mapping[str, str], name: str) -> dict[str, str]:
    return {**environ, "TANGLES_WAREHOUSE": str(FOLDER / name / "warehouse"), "TANGLES_SMALL_BYTES": "0"}


def start(name: str, environ: Mapping[str, str], log: Path, command: Sequence[str]) -> Build:
    """Start dbt over a log."""
    return Build("dbt", FOLDER / name, "iceberg", environ, command, {"ssb_log": str(log)})


def measure(name: str, environ: Mapping[str, str], lines: list[bytes], command: Sequence[str]) -> None:
    """Run the measured nights; write the CPU seconds of all processes into a file."""
    figures = {}
    for night, fraction in NIGHTS.items():
        log = write_log(lines, fraction)
        with Watch() as watch, watch.measure() as spent, start(name, environ, log, command) as build:
            seconds = build.end()
            wait_for_group(build.process.pid)
        figures[night] = spent.total
        parts = ", ".join(f"{kind} {cpu:.1f}" for kind, cpu in spent.cpu.items())
        say(f"{name}: {night}: {spent.total:.1f} CPU s ({parts}), {seconds:.0f} s on the clock")
    (FOLDER / name / "figures.json").write_text(json.dumps(figures))


def wait_for_group(group: int) -> None:
    """Wait for the processes that a build left, such as its JVM; orphans are children of this process."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def compare_shares() -> list[str]:
    """Compare the shares of both places, if both were measured; return a line if the cluster's is too large."""
    files = [FOLDER / name / "figures.json" for name in ("machine", "cluster")]
    if not all(file.exists() for file in files):
        return []
    machine, cluster = (share(json.loads(file.read_text())) for file in files)
    say(f"share of 1 % more: {machine:.3f} on one machine, {cluster:.3f} on the cluster")
    return [] if cluster <= machine + SURPLUS else [f"the share on the cluster is more than {SURPLUS} above the other"]


def share(figures: Mapping[str, float]) -> float:
    """Return the CPU seconds of the second run as a share of the first run's, both above those of the third."""
    return (figures["1 % more"] - figures["nothing new"]) / (figures["everything"] - figures["nothing new"])


def read_during_night(log: Path, command: Sequence[str]) -> list[str]:
    """Run a night on a cluster beside a reader, and the same night on one machine; return faults of the readings."""
    servers = Cluster(FOLDER / "servers")
    with servers as cluster, reading() as file, start("cluster", on_cluster(cluster), log, command) as build:
        say(f"read: {build.end():.0f} s")
    with start("machine", on_machine(), log, command) as build:
        build.end()
    return check_readings(file)


@contextmanager
def reading() -> Iterator[Path]:
    """Read tables in another process while a night runs; yields the file of the readings.

    Raises:
        BuildError: The reader failed.
    """
    file, stop, output = (FOLDER / "reader" / name for name in ("readings.jsonl", "stop", "output.txt"))
    shutil.rmtree(file.parent, ignore_errors=True)
    file.parent.mkdir(parents=True)
    with start_reader("cluster", output, "watch", file, stop, *WATCHED) as reader:
        while reader.poll() is None and not (file.exists() and file.read_text().count("\n") >= len(WATCHED)):
            time.sleep(0.1)
        try:
            yield file
        finally:
            stop.touch()
    if reader.returncode:
        raise BuildError(f"the reader failed, see {output}")


def start_reader(name: str, output: Path, *words: str | Path) -> subprocess.Popen:
    """Start `bench.cluster.snapshots` on the tables of the cluster or of one machine."""
    places = {"TANGLES_TARGET": "iceberg", "TANGLES_MASTER": "local[1]"}
    command = [sys.executable, "-m", "bench.cluster.snapshots", *map(str, words)]
    with output.open("w") as out:
        environ = _environ({**os.environ, **places}, name)
        return subprocess.Popen(command, env=environ, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)


def check_readings(file: Path) -> list[str]:
    """Return a line for each table with a reading that is neither its first nor its last, or without other rows."""
    found: dict[str, list[str]] = {}
    for line in file.read_text().splitlines():
        _, table, digest = json.loads(line)
        found.setdefault(table, []).append(digest)
    said = []
    for table, digests in found.items():
        before = sum(digest == digests[0] for digest in digests)
        say(f"reader: {table}: {len(digests)} readings, {before} before the commit")
        if digests[0] == digests[-1]:
            said.append(f"{table} has not changed in the night")
        if set(digests) - {digests[0], digests[-1]}:
            said.append(f"{table} was read with rows that are neither those before the night nor those after it")
    return said


def compare_tables() -> list[str]:
    """Return the differences between all tables of the cluster and of one machine."""
    folders = []
    for name in ("cluster", "machine"):
        folder, output = FOLDER / name / "exported", FOLDER / name / "export.txt"
        shutil.rmtree(folder, ignore_errors=True)
        if start_reader(name, output, "export", folder).wait():
            raise BuildError(f"the tables were not exported, see {output}")
        folders.append(folder)
    names = {path.name for folder in folders for path in folder.iterdir()}
    said = [f"{name}: {line}" for name in sorted(names) for line in compare(*(folder / name for folder in folders))]
    say(f"{len(names)} tables, {'not ' if said else ''}those of one machine")
    return said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
