"""Build a log on a cluster on this machine and compare its tables with those of `local`: `make cluster-demo`.

`python -m tests.cluster [--log FILE] [cluster connect thrift]`; `python -m tests.cluster faults` and `python -m
tests.cluster nights` are described in their modules. Each target has a warehouse of its own below target/cluster. The
servers end with this program, even if it is interrupted. The exit code is 0 if all tables are the same.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from bench.command import check_names, run_guarded
from bench.machine import ROOT
from bench.report import say
from tests.cluster import faults, nights
from tests.cluster.build import Build, BuildError
from tests.cluster.fault_injection import Missed
from tests.cluster.servers import Cluster, ServerError
from tests.cluster.tables import differences, names_of
from tests.cluster.targets import NEEDS, available, served

FOLDER = ROOT / "target" / "cluster"
SMALL = ROOT / "tests" / "data" / "ssb" / "small.jsonl"


def main(argv: list[str]) -> int:
    """Run the command; return 0 if the tables are the same on all targets, 1 if they differ or a step failed."""
    commands = {"faults": faults.parse, "nights": nights.parse}
    work = commands[argv.pop(0)](argv) if argv[:1] and argv[0] in commands else parse(argv)
    return run_guarded("cluster", lambda: int(bool(work())), (BuildError, Missed, ServerError))


def parse(argv: list[str]):
    """Parse the command line of the demonstration; return its work."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(NEEDS)} (default: all)")
    parser.add_argument("--log", type=Path, default=SMALL, help="an SSB log (default: tests/data/ssb/small.jsonl)")
    options = parser.parse_args(argv)
    check_names(parser, "target", options.targets, NEEDS)
    if not options.log.is_file():
        parser.error(f"--log: there is no file {options.log}")
    return lambda: demonstrate(options.targets, options.log)


def demonstrate(named: list[str], log: Path) -> list[str]:
    """Build on `local`, then on each target; return the targets that differ, and the named ones that are left out."""
    targets = available(named or [*NEEDS])
    shutil.rmtree(FOLDER, ignore_errors=True)
    variables = {"ssb_log": str(log.resolve())}
    wanted = FOLDER / "local" / "warehouse"
    with Build("local", FOLDER, "local", {**os.environ, "TANGLES_WAREHOUSE": str(wanted)}, ["build"], variables) as run:
        run.end()
    wrong = [target for target in named if target not in targets]
    with Cluster(FOLDER / "servers") as cluster:
        for target in targets:
            warehouse = FOLDER / target / "warehouse"
            with (
                served(target, cluster, warehouse) as environ,
                Build(target, FOLDER, target, environ, ["build"], variables) as run,
            ):
                run.end()
            said = differences(warehouse, wanted)
            for line in said:
                say(f"{target}: {line}")
            say(f"{target}: {len(names_of(warehouse))} tables, {'not ' if said else ''}those of local")
            wrong += [target] if said else []
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
