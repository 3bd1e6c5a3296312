"""Nights on dbt's targets `cluster`, `connect` and `thrift`, with a catalog of Iceberg or Delta Lake."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from bench.report import say
from tests.cluster.build import BuildError
from tests.cluster.night_runs import NightRuns, Place
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, names_of
from tests.cluster.targets import NEEDS, available, served

#: The settings of each format's catalog, as a Spark installation has them; its warehouse is a folder without a service.
CATALOGS = {
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": "{warehouse}",
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.defaultCatalog": "lake",
    },
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
    },
}
#: The models that read the log. A server may read another disk, so each run on it reads the log again.
READERS = {"model.tangles.stg_ssb__lines", "model.tangles.int_run_inputs"}
#: The place with the expected tables: the format's own target on this machine.
EXPECTED = "expected"


def settings(file_format: str, warehouse: Path, jars: Sequence[str]) -> dict[str, str]:
    """Return the settings of a Spark installation for a table format: its jars and its catalog."""
    path = os.pathsep.join(jars)
    of_catalog = {name: value.format(warehouse=warehouse) for name, value in CATALOGS[file_format].items()}
    return of_catalog | {"spark.driver.extraClassPath": path, "spark.executor.extraClassPath": path}


def compare_targets(nights: NightRuns, fractions: Sequence[float]) -> list[str]:
    """Run the same nights on this machine and on each target; return the differences between their tables.

    Args:
        nights: The runs.
        fractions: The fraction of the log that each run reads; the last two are equal.

    Raises:
        BuildError: A run or an export failed, or the jars are unknown.
        ServerError: A server did not start.
    """
    if "TANGLES_JARS" not in os.environ:
        raise BuildError("TANGLES_JARS has to name the jars of the format: make cluster-nights sets it")
    machine = nights.on_machine(EXPECTED)
    shutil.rmtree(nights.folder / EXPECTED, ignore_errors=True)
    unchanged = run_nights(nights, machine, fractions)
    expected = nights.export(machine)
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
    warehouse, files = nights.warehouse(target), nights.folder / target / "servers"
    shutil.rmtree(nights.folder / target, ignore_errors=True)
    # Connections to a Thrift server open in this schema, which a folder of Iceberg does not have.
    (warehouse / "default").mkdir(parents=True)
    defaults = settings(nights.file_format, warehouse, os.environ["TANGLES_JARS"].split(","))
    with Cluster(files, defaults=defaults) as cluster, served(target, cluster, warehouse) as environ:
        place = Place(target, target, environ | {"TANGLES_FILE_FORMAT": nights.file_format})
        unchanged = run_nights(nights, place, fractions)
        # A Thrift server has no Arrow; Spark Connect in its JVM reads the same tables.
        return unchanged, nights.export(place._replace(target="connect") if target == "thrift" else place)


def run_nights(nights: NightRuns, place: Place, fractions: Sequence[float]) -> set[str]:
    """Run the nights in a place; return the ids of the steps that the last run left unchanged.

    Raises:
        BuildError: A run failed, or the last run did not leave any step unchanged.
    """
    for fraction in fractions:
        with nights.start_in(place, fraction) as build:
            say(f"{place.name}: {fraction:.0%} of the log, {build.end():.0f} s")
    results = json.loads((build.target / "run_results.json").read_text())["results"]
    unchanged = {each["unique_id"] for each in results if each["adapter_response"].get("_message") == "unchanged"}
    say(f"{place.name}: {len(unchanged)} of {len(results)} steps were unchanged in the last run")
    if not unchanged:
        raise BuildError(f"{place.name}: a repeated run built all tables again, see {build.output}")
    return unchanged
