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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.command import check_names, run_guarded
from bench.machine import ROOT
from bench.report import say
from tests.cluster import fault_injection
from tests.cluster.build import Build, BuildError
from tests.cluster.catching import ROWS, Catching
from tests.cluster.fault_injection import KINDS, SPECULATION, Fault, Missed, Scene
from tests.cluster.servers import Cluster, ServerError
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
#: Seconds between two looks at the running tasks: those of a merge of few rows end within a tenth of a second.
POLL = 0.02

FAULTS = {
    fault.name: fault
    for fault in (
        Fault(
            "executor",
            "an executor is killed in each kind of Python model",
            KINDS.values(),
            fault_injection.kill_executor,
        ),
        Fault("python", "a Python worker is killed in each kind", KINDS.values(), fault_injection.kill_python),
        Fault(
            "checkpoint",
            "an executor is killed that keeps rows of earlier rounds of a model",
            [fault_injection.ROUNDS],
            fault_injection.kill_executor,
            how=ROWS,
            # Small partitions would be joined into one, on the killed executor or on another.
            settings={"spark.sql.adaptive.coalescePartitions.enabled": "false"},
            says=f"{fault_injection.ROUNDS}: an executor with checkpointed rows was lost; the model runs again",
        ),
        Fault("worker", "a machine is lost: a worker and its executor", [KINDS["graphs"]], fault_injection.kill_worker),
        Fault(
            "shuffle",
            "all shuffle files are lost between two tasks of a stage",
            [KINDS["graphs"], KINDS["timelines"]],
            fault_injection.lose_shuffles,
            # Small partitions would be joined into one, which has read its files before it is caught.
            settings={"spark.sql.adaptive.coalescePartitions.enabled": "false"},
            expects_retry=True,
        ),
        Fault(
            "straggler",
            "a task stands still until Spark has begun a copy, and then goes on beside it",
            [KINDS["lines"], KINDS["graphs"]],
            fault_injection.stall,
            settings=SPECULATION,
            leaves_files=True,
        ),
        Fault(
            "memory",
            "each task of a model fills the memory that its Python may have",
            [KINDS["graphs"]],
            how="fill",
            settings={"spark.executor.pyspark.memory": "3g"},
            error=r"Python ran out of memory on a worker .*spark\.executor\.pyspark\.memory",
        ),
        Fault(
            "killed",
            "the executor is killed at each task of a model, as by a system that is out of memory",
            [KINDS["graphs"]],
            fault_injection.kill_executor,
            how="always",
            error=r"executors were lost .*spark\.executor\.memoryOverhead",
        ),
        Fault(
            "driver",
            "dbt and its driver are killed, once in each model, and the build is begun again",
            [KINDS["lines"], KINDS["graphs"]],
            fault_injection.kill_driver,
            kills_driver=True,
        ),
    )
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if tables differ, a build ended unexpectedly, or a fault did not happen."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster faults", description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"{', '.join(FAULTS)} (default: all)")
    options = parser.parse_args(argv)
    check_names(parser, "fault", options.faults, FAULTS)
    chosen = [FAULTS[name] for name in options.faults or FAULTS]
    return run_guarded("cluster-faults", lambda: 1 if run(chosen, FOLDER) else 0, (BuildError, ServerError))


def run(faults: Sequence[Fault], folder: Path) -> int:
    """Build undisturbed on `local`, then on a cluster with each fault; return how many builds ended unexpectedly.

    Raises:
        BuildError: The undisturbed build failed.
        ServerError: The cluster did not start.
    """
    shutil.rmtree(folder, ignore_errors=True)
    wanted = folder / "local" / "warehouse"
    command = command_for([model for fault in faults for model in fault.models])
    undisturbed("local", folder, "local", {**os.environ, "TANGLES_WAREHOUSE": str(wanted)}, command)
    failed = 0
    for fault in faults:
        say(f"{fault.name}: {fault.description}")
        try:
            said = endure(fault, folder / fault.name, wanted)
        except (BuildError, Missed, OSError) as error:
            said = [str(error)]
        for line in said:
            say(f"{fault.name}: {line}")
        say(f"{fault.name}: {'NOT as expected' if said else 'as expected, with the tables of local'}")
        failed += bool(said)
    return failed


def command_for(models: Sequence[str]) -> tuple[str, ...]:
    """Return dbt's command that builds models and their inputs."""
    selected = [f"+{model}" for model in dict.fromkeys(models)]
    return "build", "--select", *selected, "--exclude-resource-type", "test", "unit_test"


def undisturbed(name: str, folder: Path, *given: Any) -> Build:
    """Build without a fault; `given` as for `Build`.

    Raises:
        BuildError: The build failed.
    """
    with Build(name, folder, *given) as build:
        say(f"{folder.name}: built {name}, {build.end():.0f} s")
    return build


def endure(fault: Fault, folder: Path, wanted: Path) -> list[str]:
    """Build with a fault on a cluster of its own, and again if files are left; return the differences.

    Raises:
        BuildError: A build ended unexpectedly.
        Missed: The fault did not happen.
    """
    catching = Catching(folder / "caught")
    command = command_for(fault.models)
    warehouse = folder / "warehouse"
    with Cluster(folder / "servers", defaults=QUICK | catching.settings() | fault.settings) as cluster:
        places = {"SPARK_MASTER": cluster.master, "TANGLES_WAREHOUSE": str(warehouse)}
        environ = cluster.environ(SPARK_SUBMIT_OPTS=JAVA, **places)
        for number, models in enumerate(fault.builds(), start=1):
            catching.wait_for(models, fault.how)
            with Build(f"struck-{number}", folder, "cluster", environ, command) as last:
                strike(fault, Scene(cluster, last, catching), models)
        said = []
        if fault.leaves_files:
            made = made_by(last)
            say(f"{fault.name}: left for the next build to delete: {leftovers(warehouse, made) or 'no files'}")
            said = differences(warehouse, wanted, names=made)
        if fault.leaves_files or not fault.ends_well:
            last = undisturbed("again", folder, "cluster", environ, command)
    made = made_by(last)
    return said + leftovers(warehouse, made) + differences(warehouse, wanted, names=made)


def strike(fault: Fault, scene: Scene, models: Sequence[str]) -> None:
    """Inject a fault while a build runs, and check its end.

    Raises:
        BuildError: The build ended unexpectedly.
        Missed: The fault did not happen.
    """
    build, struck, has_retried = scene.build, [], False
    while build.is_running:
        if build.seconds > PATIENCE:
            raise BuildError(f"{build.name}: the build has not ended after {PATIENCE:.0f} s, see {build.output}")
        for caught in scene.catching.caught(build.said()):
            struck.append(caught)
            fault.act(scene, caught)
        if fault.expects_retry and struck and not has_retried:
            has_retried = scene.catching.application.has_retried()
        time.sleep(POLL)
    scene.catching.wait_for([])
    told = ", ".join(map(str, struck))
    say(f"{fault.name}: {build.seconds:.0f} s, exit code {build.process.returncode}, struck {told}")
    if left := set(models) - {caught.model for caught in struck}:
        raise Missed(f"the fault did not happen in {', '.join(sorted(left))}: see {build.output}")
    if fault.expects_retry and not has_retried:
        raise Missed("Spark did not start a stage again, although its input was lost")
    check_end(fault, build, models)


def check_end(fault: Fault, build: Build, models: Sequence[str]) -> None:
    """Check the end of a build with a fault: success and its line, killed, or an error with the model and the remedy.

    Raises:
        BuildError: The build ended unexpectedly.
    """
    code = build.process.returncode
    if fault.kills_driver:
        is_right = code == -signal.SIGKILL
    elif fault.error is None:
        is_right = code == 0 and re.search(fault.says, build.said())
    else:
        wanted = rf"Error in model {models[0]} .*\n(.*\n)?\s*{fault.error}"
        is_right = code != 0 and re.search(wanted, build.said())
    if not is_right:
        last = "\n".join(build.said().splitlines()[-30:])
        raise BuildError(f"{build.name}: unexpected exit code {code} or output, see {build.output}:\n{last}")
