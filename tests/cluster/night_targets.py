"""The same nights on each target of a cluster, on tables of Iceberg or Delta Lake in a catalog of that Spark."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from bench.report import say
from bench.session import settings
from tests.cluster.build import BuildError
from tests.cluster.night_runs import NightRuns, Place
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, names_of
from tests.cluster.targets import NEEDS, available, served

#: The settings of a format's catalog in the profile of its own target, which a Spark installation needs, too.
OF_CATALOG = ("spark.sql.extensions", "spark.sql.catalog.", "spark.sql.defaultCatalog", "spark.databricks.")
#: The model that reads the log. A server may read another disk, so each run on it reads the log again.
READERS = {"model.tangles.stg_ssb__lines"}
#: The place with the expected tables: the format's own target on this machine.
EXPECTED = "expected"


def compare_targets(nights: NightRuns, fractions: Sequence[float]) -> list[str]:
    """Run the same nights on this machine and on each target; return the differences between their tables."""
    machine = nights.on_machine(EXPECTED)
    shutil.rmtree(nights.folder / EXPECTED, ignore_errors=True)
    unchanged, expected = run_nights(nights, machine, fractions), nights.export(machine)
    said = []
    for target in available([*NEEDS]):
        of_target, exported = run_on(nights, target, fractions)
        found = differences(exported, expected)
        if built := sorted(unchanged - of_target - READERS):
            found.append(f"the repeated run built {', '.join(built)}, which were unchanged on this machine")
        said += [f"{target}: {line}" for line in found]
        say(f"{target}: {len(names_of(exported))} tables, {'not ' if found else ''}those of one machine")
    return said


def run_on(nights: NightRuns, target: str, fractions: Sequence[float]) -> tuple[set[str], Path]:
    """Run the nights on a target; return the unchanged steps of the last one, and the exported tables."""
    warehouse = nights.warehouse(target)
    shutil.rmtree(nights.folder / target, ignore_errors=True)
    # Connections to a Thrift server open in this schema, which a folder of Iceberg does not have.
    (warehouse / "default").mkdir(parents=True)
    profile = settings({"TANGLES_WAREHOUSE": str(warehouse)}, nights.file_format)
    defaults = {name: value for name, value in profile.items() if name.startswith(OF_CATALOG)}
    jars = os.environ["TANGLES_JARS"].replace(",", os.pathsep)
    defaults |= {"spark.driver.extraClassPath": jars, "spark.executor.extraClassPath": jars}
    servers = nights.folder / target / "servers"
    with Cluster(servers, defaults) as cluster, served(target, cluster, warehouse) as environ:
        place = Place(target, target, environ | {"TANGLES_FILE_FORMAT": nights.file_format})
        unchanged = run_nights(nights, place, fractions)
        # A Thrift server has no Arrow; Spark Connect in its JVM reads the same tables.
        return unchanged, nights.export(place._replace(target="connect") if target == "thrift" else place)


def run_nights(nights: NightRuns, place: Place, fractions: Sequence[float]) -> set[str]:
    """Run the nights in a place; return the ids of the steps that the last run left unchanged."""
    for fraction in fractions:
        build = nights.run(place, fraction)
    results = json.loads((build.target / "run_results.json").read_text())["results"]
    unchanged = {each["unique_id"] for each in results if each["adapter_response"].get("_message") == "unchanged"}
    say(f"{place.name}: {len(unchanged)} of {len(results)} steps were unchanged in the last run")
    if not unchanged:
        raise BuildError(f"{place.name}: a repeated run built all tables again, see {build.output}")
    return unchanged
