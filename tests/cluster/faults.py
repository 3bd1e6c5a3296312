"""Build on a cluster on this machine while parts of it fail, and compare the tables: `make cluster-faults`.

`python -m tests.cluster faults [FAULT ...]` builds the fixtures, because they have rows for every kind of Python model.
The exit code is 0 if each fault happened, each build ended as expected, and the tables equal those of an undisturbed
build on `local`.
"""

import argparse
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.command import check_names
from bench.machine import ROOT
from bench.report import say
from tests.cluster.build import Build, BuildError
from tests.cluster.catching import Catching
from tests.cluster.fault_injection import FAULTS, Fault, Missed, Scene
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, leftovers, made_by

FOLDER = ROOT / "target" / "cluster-faults"

#: Settings of the JVMs and of Spark for a fast start with few rows.
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
QUICK = {
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
#: The limit for a build with a fault, in seconds; a build that hangs has failed.
PATIENCE = 600.0
#: Seconds between two looks at the running tasks: those of few rows end within a tenth of a second.
POLL = 0.02


def parse(argv: Sequence[str]):
    """Parse the command line; return the work, whose result is a list of unexpected ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster faults", description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"{', '.join(FAULTS)} (default: all)")
    options = parser.parse_args(argv)
    check_names(parser, "fault", options.faults, FAULTS)
    return lambda: run([FAULTS[name] for name in options.faults or FAULTS])


def run(faults: Sequence[Fault]) -> list[str]:
    """Build undisturbed on `local`, then on a cluster with each fault; return the unexpected ends."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    wanted = FOLDER / "local" / "warehouse"
    command = command_for([model for fault in faults for model in fault.models])
    with Build("local", FOLDER, "local", {**os.environ, "TANGLES_WAREHOUSE": str(wanted)}, command) as build:
        build.end()
    said = []
    for fault in faults:
        said += tell(fault, partial(endure, fault, FOLDER / fault.name, wanted))
    return said


def tell(fault: Fault, work: Callable[[], list[str]]) -> list[str]:
    """Print the unexpected ends of the work with a fault; return these lines."""
    say(f"{fault.name}: {fault.description}")
    try:
        said = work()
    except (BuildError, Missed, OSError) as error:
        said = [str(error)]
    for line in said or ["as expected"]:
        say(f"{fault.name}: {line}")
    return [f"{fault.name}: {line}" for line in said]


def command_for(models: Sequence[str]) -> list[str]:
    selected = [f"+{model}" for model in dict.fromkeys(models)]
    return ["build", "--select", *selected, "--exclude-resource-type", "test", "unit_test"]


def endure(fault: Fault, folder: Path, wanted: Path) -> list[str]:
    """Build with a fault on a cluster of its own, and again if files are left; return the differences."""
    catching, warehouse, command = Catching(folder / "caught"), folder / "warehouse", command_for(fault.models)
    with Cluster(folder / "servers", QUICK | catching.settings() | fault.settings) as cluster:
        places = {"SPARK_MASTER": cluster.master, "TANGLES_WAREHOUSE": str(warehouse)}
        environ = cluster.environ(SPARK_SUBMIT_OPTS=JAVA, **places)
        for number, models in enumerate(fault.builds(), start=1):
            with Build(f"struck-{number}", folder, "cluster", environ, command) as last:
                strike(fault, Scene(cluster, last, catching), models)
        said = []
        if fault.leaves_files:
            made = made_by(last)
            say(f"{fault.name}: left for the next build to delete: {leftovers(warehouse, made) or 'no files'}")
            said = differences(warehouse, wanted, names=made)
        if fault.leaves_files or not fault.ends_well:
            with Build("again", folder, "cluster", environ, command) as last:
                last.end()
    made = made_by(last)
    return said + leftovers(warehouse, made) + differences(warehouse, wanted, names=made)


def strike(fault: Fault, scene: Scene, models: Sequence[str]) -> None:
    """Inject a fault while a build runs, and check that it happened and how the build ended."""
    build, struck, has_retried = scene.build, [], False
    scene.catching.wait_for(models, fault.how)
    while build.process.poll() is None:
        if build.seconds > PATIENCE:
            raise build.failed(f"it still runs after {PATIENCE:.0f} s")
        for caught in scene.catching.caught(build.said()):
            struck.append(caught)
            fault.act(scene, caught)
        if fault.expects_retry and struck and not has_retried:
            has_retried = scene.catching.application.has_retried()
        time.sleep(POLL)
    scene.catching.wait_for([])
    told = ", ".join(caught.model for caught in struck)
    say(f"{fault.name}: {build.seconds:.0f} s, exit code {build.process.returncode}, struck {told}")
    if left := set(models) - {caught.model for caught in struck}:
        raise Missed(f"the fault did not happen in {', '.join(sorted(left))}: see {build.output}")
    if fault.expects_retry and not has_retried:
        raise Missed("Spark did not start a stage again, although its input was lost")
    check_end(fault, build, models)


def check_end(fault: Fault, build: Build, models: Sequence[str]) -> None:
    """Check the end of a build with a fault: success and its line, killed, or an error with model and remedy."""
    code = build.process.returncode
    if fault.kills_driver:
        is_right = code == -signal.SIGKILL
    elif fault.error:
        wanted = rf"Error in model {models[0]} .*\n(.*\n)?\s*{fault.error}"
        is_right = code != 0 and re.search(wanted, build.said())
    else:
        is_right = code == 0 and re.search(fault.says, build.said())
    if not is_right:
        raise build.failed(f"exit code {code}, or another output than expected")
