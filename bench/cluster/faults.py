"""Builds on a cluster on this machine while parts of it fail, and compares the tables: `make cluster-faults`.

`python -m bench.cluster.faults [--log FILE] [killed lost straggler driver]`. 0 where each build ended with the tables
that `local` makes undisturbed, and all that was to fail did.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.cluster.__main__ import SMALL
from bench.cluster.build import Build, BuildError, build
from bench.cluster.servers import Cluster, ServerError
from bench.cluster.strikes import CAUSES, LEVELS, LINES, ORDER, Strike, settings, task_ends, tend
from bench.cluster.tables import differences
from bench.machine import ROOT
from bench.report import say

FOLDER = ROOT / "target" / "cluster-faults"
SELECTED = "+tangle_messages +timeline_edits +timeline_events"
COMMAND = ("run", "--select", *SELECTED.split())

#: A copy of a task is begun when it takes longer than the others, soon.
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "500ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "2s",
    "spark.speculation.task.duration.threshold": "10s",
}


class Missed(RuntimeError):
    """Something that was to fail did not."""


def killed(cluster: Cluster, folder: Path, variables: dict) -> None:
    """A worker is killed in the middle of a Python model of each kind, and between SQL rounds."""
    strikes = [Strike(*place, "kill_worker") for place in (LINES, LEVELS, ORDER)]
    died = struck(cluster, folder, variables, strikes, kill_in_rounds=True)
    if died < 4:
        raise Missed(f"{died} workers died, not 4")


def lost(cluster: Cluster, folder: Path, variables: dict) -> None:
    """Shuffle files vanish, an executor is killed as by a system out of memory, and a Python worker has none left."""
    strikes = [Strike(*LEVELS, "lose_shuffles"), Strike(*CAUSES, "kill_executor"), Strike(*ORDER, "out_of_memory")]
    struck(cluster, folder, variables, strikes)


def straggler(cluster: Cluster, folder: Path, variables: dict) -> None:
    """Tasks hang; with speculation on, copies of them do the work."""
    struck(cluster, folder, variables, [Strike(*LINES, "straggle"), Strike(*LEVELS, "straggle")], SPECULATION)
    if not task_ends(folder)["Speculative"]:
        raise Missed("no copy of a task was begun")


def driver(cluster: Cluster, folder: Path, variables: dict) -> None:
    """The driver is killed once while it reads lines and once between SQL rounds, and the build is begun again."""
    cluster.set_defaults({})
    environ = environ_of(cluster, folder)
    for moment in (r"START python table model \S*stg_ssb__lines", "int_tangle_depths: depth 1:"):
        with Build("killed", folder, "cluster", environ, COMMAND, variables) as first:
            while not re.search(moment, first.said()):
                if not first.is_running:
                    raise Missed(f"the build ended before {moment!r}: see {first.output}")
                time.sleep(0.1)
            time.sleep(2)  # into what has begun
            if not first.is_running:
                raise Missed("the build was over before it was killed")
    build("again", folder, "cluster", environ, COMMAND, variables)


def struck(
    cluster: Cluster,
    folder: Path,
    variables: dict,
    strikes: list[Strike],
    more: dict[str, str] | None = None,
    kill_in_rounds: bool = False,
) -> int:
    """Build while strikes fall; how many workers died.

    Raises:
        BuildError: The build failed.
        Missed: A strike did not fall.
    """
    cluster.set_defaults(settings(cluster, folder, strikes) | (more or {}))
    with Build("struck", folder, "cluster", environ_of(cluster, folder), COMMAND, variables) as running:
        died = tend(cluster, running, kill_in_rounds)
        seconds = running.end()
    if left := [strike for strike in strikes if not strike.mark(folder).exists()]:
        raise Missed(f"{left} did not happen")
    ends = ", ".join(f"{count} {reason}" for reason, count in sorted(task_ends(folder).items())) or "none"
    say(f"{folder.name}: {seconds:.0f} s, {died} workers died; tasks that did not end well, or were copies: {ends}")
    return died


def environ_of(cluster: Cluster, folder: Path) -> dict[str, str]:
    """The environment of a build on the cluster."""
    return cluster.environ(SPARK_MASTER=cluster.master, TANGLES_WAREHOUSE=str(folder / "warehouse"))


FAULTS: dict[str, Callable] = {each.__name__: each for each in (killed, lost, straggler, driver)}


def main(argv: list[str] | None = None) -> int:
    """Run the command; 1 where tables differ, a build failed, or something did not fail that was to."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.faults", description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"{', '.join(FAULTS)} (default: all)")
    parser.add_argument("--log", type=Path, default=SMALL, help="an SSB log (default: tests/data/ssb/small.jsonl)")
    options = parser.parse_args(argv)
    if unknown := set(options.faults) - FAULTS.keys():
        parser.error(f"no fault is called {sorted(unknown)[0]!r}; there are {', '.join(FAULTS)}")
    if not options.log.is_file():
        parser.error(f"--log: there is no file {options.log}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    try:
        return run(options.faults or list(FAULTS), {"ssb_log": str(options.log.resolve())})
    except (BuildError, ServerError, Missed) as error:
        print(f"cluster-faults: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cluster-faults: interrupted", file=sys.stderr)
        return 130


def run(faults: list[str], variables: dict) -> int:
    """Build undisturbed on `local`, then with each fault; 1 where tables differ."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    wanted = FOLDER / "local" / "warehouse"
    build("local", FOLDER, "local", {**os.environ, "TANGLES_WAREHOUSE": str(wanted)}, COMMAND, variables)
    differing = 0
    with Cluster(FOLDER / "servers") as cluster:
        for name in faults:
            say(f"{name}: {FAULTS[name].__doc__}")
            FAULTS[name](cluster, FOLDER / name, variables)
            said = differences(FOLDER / name / "warehouse", wanted)
            for line in said:
                say(f"{name}: {line}")
            say(f"{name}: the tables are {'not ' if said else ''}those of local")
            differing += bool(said)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
