"""Build a log on a cluster on this machine and compare its tables with those of `local`: `make cluster-demo`.

`python -m tests.cluster [--log FILE] [--select …] [cluster connect thrift]`; `python -m tests.cluster faults` and
`python -m tests.cluster nights` are described in their modules. Each target has a warehouse of its own below
target/cluster. The servers end with this program, even if it is interrupted. The exit code is 0 if all tables are the
same.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.command import check_names, run_guarded
from bench.machine import ROOT
from bench.report import say
from tests.cluster import faults, nights
from tests.cluster.build import Build, BuildError
from tests.cluster.servers import Cluster, ServerError
from tests.cluster.tables import differences, names_of
from tests.cluster.targets import NEEDS, available, served

FOLDER = ROOT / "target" / "cluster"
SMALL = ROOT / "tests" / "data" / "ssb" / "small.jsonl"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; an error ends the process with exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(NEEDS)} (default: all)")
    parser.add_argument("--log", type=Path, default=SMALL, help="an SSB log (default: tests/data/ssb/small.jsonl)")
    parser.add_argument("--select", help="build only that, as dbt takes it (default: everything, with all tests)")
    options = parser.parse_args(argv)
    check_names(parser, "target", options.targets, NEEDS)
    if not options.log.is_file():
        parser.error(f"--log: there is no file {options.log}")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0 if the tables are the same on all targets, 1 if they differ or a step failed."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["faults"]:
        return faults.main(argv[1:])
    if argv[:1] == ["nights"]:
        return nights.main(argv[1:])
    options = parse(argv)
    targets = available(options.targets or [*NEEDS])
    # A target that was named and is not available is a failure; for the others, the line above is enough.
    lacks = not set(options.targets) <= set(targets)
    return run_guarded("cluster", lambda: int(demonstrate(targets, options) > 0 or lacks), (BuildError, ServerError))


def demonstrate(targets: list[str], options: argparse.Namespace) -> int:
    """Build on `local`, then on each target; return how many targets differ."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    command = ["build", *(["--select", *options.select.split()] if options.select else [])]
    variables = {"ssb_log": str(options.log.resolve())}

    def run(target: str, environ: Mapping[str, str]) -> None:
        say(f"{target}: dbt {' '.join(command)}")
        with Build(target, FOLDER, target, environ, command, variables) as running:
            say(f"{target}: {running.end():.0f} s")

    wanted = FOLDER / "local" / "warehouse"
    run("local", {**os.environ, "TANGLES_WAREHOUSE": str(wanted)})
    differing = 0
    with Cluster(FOLDER / "servers") as cluster:
        for target in targets:
            warehouse = FOLDER / target / "warehouse"
            with served(target, cluster, warehouse) as environ:
                run(target, environ)
            said = differences(warehouse, wanted)
            for line in said:
                say(f"{target}: {line}")
            say(f"{target}: {len(names_of(warehouse))} tables, {'not ' if said else ''}those of local")
            differing += bool(said)
    return differing


if __name__ == "__main__":
    sys.exit(main())
