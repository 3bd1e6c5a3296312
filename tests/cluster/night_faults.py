"""A night with each fault of a cluster, on tables of Iceberg or Delta Lake.

Each fault has a cluster of its own, and its night begins from the same tables: those of a shorter log, made on one
machine. The night of one machine gives the expected tables.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from bench.report import say
from tests.cluster import faults
from tests.cluster.build import BuildError
from tests.cluster.catching import MERGE, Catching
from tests.cluster.fault_injection import KINDS, ROUNDS, Fault, Missed, Scene
from tests.cluster.night_runs import NightRuns, Place
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, kinds_of, names_of

#: The folder for all faults; its warehouse has the tables of each night in turn.
PLACE = "faults"
#: In a run with faults, Spark has its page, which tells the running merges.
PAGE = {"TANGLES_SPARK_UI": "true"}
#: The end of the names of tables with the new rows of changed groups.
NEW_ROWS = "__next"
#: Materializations whose rows depend on the runs before: after a failed run, more groups may count as changed.
OF_CHANGED_GROUPS = {"group_versions", "working_set"}

LINES, GRAPHS, TIMELINES = (KINDS[name] for name in ("lines", "graphs", "timelines"))
#: The faults, and the models and statements of a night in the middle of which each happens.
MODELS = {
    "driver": [LINES, GRAPHS, MERGE],
    "executor": [LINES, GRAPHS, TIMELINES, MERGE],
    "python": [LINES, GRAPHS, TIMELINES],
    "checkpoint": [ROUNDS],
    "worker": [GRAPHS],
    "shuffle": [GRAPHS, TIMELINES],
    # A copy needs the other executor, so models that run beside a merge are left undisturbed.
    "straggler": [LINES, MERGE],
    "memory": [GRAPHS],
    "killed": [GRAPHS],
}


def faults_on(file_format: str, names: Collection[str] = ()) -> list[Fault]:
    """Return the faults of a night, by default all. Of Delta Lake's merges, Spark's page does not name the tables."""
    left_out = {MERGE} if file_format == "delta" else set()
    chosen = {name: [model for model in MODELS[name] if model not in left_out] for name in names or MODELS}
    return [replace(faults.FAULTS[name], models=models) for name, models in chosen.items()]


def endure_faults(nights: NightRuns, before: float, after: float, names: Collection[str] = ()) -> list[str]:
    """Run a night with each fault, and without a fault on this machine; return the differences between their tables.

    Args:
        nights: The runs.
        before: The fraction of the log that the tables have before each night.
        after: The fraction that each night reads.
        names: The faults; by default all.

    Raises:
        BuildError: A run without a fault failed.
        ServerError: A cluster did not start.
    """
    shutil.rmtree(nights.folder / PLACE, ignore_errors=True)
    expected = nights.on_machine(f"{PLACE}/expected", nights.warehouse(PLACE))
    run(nights, expected, before)
    shutil.copytree(nights.warehouse(PLACE), nights.folder / PLACE / "before")
    run(nights, expected, after)
    wanted = nights.export(expected)
    said = []
    for fault in faults_on(nights.file_format, names):
        say(f"{fault.name}: {fault.description}")
        shutil.rmtree(nights.warehouse(PLACE))
        shutil.copytree(nights.folder / PLACE / "before", nights.warehouse(PLACE))
        try:
            found = endure(nights, fault, after) + compare(nights, fault, wanted)
        except (BuildError, Missed, OSError) as error:
            found = [str(error)]
        for line in found or ["as expected"]:
            say(f"{fault.name}: {line}")
        said += [f"{fault.name}: {line}" for line in found]
    return said


def run(nights: NightRuns, place: Place, fraction: float) -> None:
    """Run a night without a fault.

    Raises:
        BuildError: The run failed.
    """
    with nights.start_in(place, fraction) as build:
        say(f"{place.name}: {fraction:.0%} of the log, {build.end():.0f} s")


def endure(nights: NightRuns, fault: Fault, fraction: float) -> list[str]:
    """Run a night with a fault on a cluster of its own, and again if it cannot end well.

    Returns:
        The lines of dbt about tables that a run rebuilt in full instead of their changed groups.

    Raises:
        BuildError: A run ended unexpectedly.
        Missed: The fault did not happen.
    """
    said, catching = [], Catching(nights.folder / PLACE / "caught")
    defaults = faults.QUICK | catching.settings() | fault.settings
    with Cluster(nights.folder / PLACE / "servers", defaults=defaults) as cluster:
        warehouse = str(nights.warehouse(PLACE))
        environ = cluster.environ(TANGLES_MASTER=cluster.master, TANGLES_WAREHOUSE=warehouse, **PAGE)
        place = Place(f"{PLACE}/{fault.name}", nights.file_format, environ)
        for models in fault.builds():
            before = nights.commits(PLACE)
            catching.wait_for(models, fault.how)
            with nights.start_in(place, fraction) as build:
                faults.strike(fault, Scene(cluster, build, catching), models)
                said += re.findall("Rebuilding .*", build.said())
            if fault.kills_driver and MERGE in models:
                check_merges(before, nights.commits(PLACE))
        if not fault.ends_well:
            run(nights, place, fraction)
    return said


def check_merges(before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """Say which merges were interrupted by a kill: the tables of their new rows are left.

    Args:
        before: The number of commits of each table before the run.
        after: The same after the kill.

    Raises:
        Missed: No such table is left.
    """
    left = [name.removesuffix(NEW_ROWS) for name in sorted(after) if name.endswith(NEW_ROWS)]
    for name in left:
        said = "not committed" if before[name] == after[name] else f"{after[name] - before[name]} commits further"
        say(f"driver: {name}{NEW_ROWS} is left, {name} is {said}")
    if not left:
        raise Missed("the kill did not interrupt a merge of changed groups")


def compare(nights: NightRuns, fault: Fault, wanted: Path) -> list[str]:
    """Return the differences between the tables after a night with a fault and the expected ones.

    Group versions and working sets are left out if a run of the night failed.

    Args:
        nights: The runs.
        fault: The fault.
        wanted: The expected tables, exported.

    Raises:
        BuildError: The tables could not be read.
    """
    name = f"{PLACE}/{fault.name}"
    found = nights.export(nights.on_machine(name, nights.warehouse(PLACE)))
    names = names_of(found) | names_of(wanted)
    if not fault.ends_well:
        kinds = kinds_of(nights.folder / name / "target")
        names = {name for name in names if kinds.get(name) not in OF_CHANGED_GROUPS}
    said = differences(found, wanted, names=names)
    say(f"{fault.name}: {len(names)} tables, {'not ' if said else ''}those of one machine")
    return said
