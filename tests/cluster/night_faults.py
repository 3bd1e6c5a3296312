"""A night with each fault of a cluster, on tables of Iceberg or Delta Lake.

Each fault has a cluster of its own, and its night begins from the same tables: those of a shorter log, made on one
machine. The night of one machine gives the expected tables.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from bench.report import say
from dbt_spark_python.incremental.plan import MATERIALIZATION, VERSIONS, WORKING_SET, find_held
from tests.cluster.catching import Catching
from tests.cluster.fault_injection import FAULTS, GRAPHS, LINES, ROUNDS, TIMELINES, Fault, Scene
from tests.cluster.faults import QUICK, strike, tell
from tests.cluster.night_runs import NightRuns
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, names_of

#: The folder for all faults; its warehouse has the tables of each night in turn.
PLACE = "faults"

#: The faults, and the models of a night in the middle of which each happens.
MODELS = {
    "driver": [LINES, GRAPHS],
    "executor": [LINES, GRAPHS, TIMELINES],
    "python": [LINES, GRAPHS, TIMELINES],
    "checkpoint": [ROUNDS],
    "worker": [GRAPHS],
    "shuffle": [GRAPHS, TIMELINES],
    "straggler": [LINES],
    "memory": [GRAPHS],
    "killed": [GRAPHS],
}


def endure_faults(nights: NightRuns, before: float, after: float, names: Collection[str]) -> list[str]:
    """Run a night over a larger fraction of the log, with each fault and without one; return the differences."""
    warehouse, kept = nights.warehouse(PLACE), nights.folder / PLACE / "before"
    shutil.rmtree(nights.folder / PLACE, ignore_errors=True)
    expected = nights.on_machine(f"{PLACE}/expected", warehouse)
    nights.run(expected, before)
    shutil.copytree(warehouse, kept)
    nights.run(expected, after)
    wanted = nights.export(expected)
    said = []
    for name in names or MODELS:
        fault = replace(FAULTS[name], models=MODELS[name])
        shutil.rmtree(warehouse)
        shutil.copytree(kept, warehouse)
        said += tell(fault, lambda fault=fault: endure(nights, fault, after) + compare(nights, fault, wanted))
    return said


def endure(nights: NightRuns, fault: Fault, fraction: float) -> list[str]:
    """Run a night with a fault, and again if it cannot end well; return the lines about tables rebuilt in full."""
    said, catching = [], Catching(nights.folder / PLACE / "caught")
    with Cluster(nights.folder / PLACE / "servers", QUICK | catching.settings() | fault.settings) as cluster:
        name, warehouse = f"{PLACE}/{fault.name}", nights.warehouse(PLACE)
        # Spark's page tells which executors keep rows. Settings of the profile take precedence over the cluster's.
        place = nights.on_cluster(name, cluster, warehouse, TANGLES_SPARK_UI="true")
        for models in fault.builds():
            with nights.start(place, fraction) as build:
                strike(fault, Scene(cluster, build, catching), models)
                said += re.findall("Rebuilding .*", build.said())
        if not fault.ends_well:
            nights.run(place, fraction)
    return said


def compare(nights: NightRuns, fault: Fault, wanted: Path) -> list[str]:
    """Return the differences to the expected tables; after a failed run, those of changed groups are left out."""
    name = f"{PLACE}/{fault.name}"
    found = nights.export(nights.on_machine(name, nights.warehouse(PLACE)))
    names = names_of(found) | names_of(wanted)
    if not fault.ends_well:
        nodes = json.loads((nights.folder / name / "target" / "manifest.json").read_text())["nodes"].values()
        # Their rows depend on the runs before: after a failed run, more groups may count as changed.
        planned = [node for node in nodes if node["config"]["materialized"] == MATERIALIZATION]
        names -= {node["alias"] for node in planned if find_held(node["config"]) in (VERSIONS, WORKING_SET)}
    said = differences(found, wanted, names=names)
    say(f"{fault.name}: {len(names)} tables, {'not ' if said else ''}those of one machine")
    return said
