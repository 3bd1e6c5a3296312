"""Compare the tables of two builds, every row of every table."""

import json
from collections.abc import Collection
from pathlib import Path

from tests.cluster.build import SCHEMA, Build
from tests.same_tables import LEFT_OUT, compare

#: Temporary folders of a writer of Spark or Hive, which it deletes at the end.
WRITING = ("_temporary", ".spark-staging", ".hive-staging")


def names_of(warehouse: Path, schema: str = SCHEMA) -> set[str]:
    """Return the tables of a warehouse."""
    folder = warehouse / f"{schema}.db"
    return {path.name for path in folder.glob("*") if path.name[0] not in "._"} if folder.is_dir() else set()


def made_by(build: Build) -> set[str]:
    """Return the tables and views of a successful build that was the last of its folder."""
    results = json.loads((build.target / "run_results.json").read_text())["results"]
    return {result["unique_id"].rpartition(".")[2] for result in results}


def kinds_of(target: Path) -> dict[str, str]:
    """Return the materializations of the project's models by table, from the files that dbt left in a folder."""
    nodes = json.loads((target / "manifest.json").read_text())["nodes"].values()
    return {node["alias"]: node["config"]["materialized"] for node in nodes if node["resource_type"] == "model"}


def leftovers(warehouse: Path, made: Collection[str]) -> list[str]:
    """Return the tables and folders that a build left besides its tables and the tables about runs."""
    told = {name for name, columns in LEFT_OUT.items() if columns is None}
    tables = [f"{name} is left over" for name in sorted(names_of(warehouse) - {*made} - told)]
    folders = [path for path in warehouse.rglob("*") if path.is_dir() and path.name.startswith(WRITING)]
    return tables + [f"{path} is left over" for path in sorted(folders)]


def differences(
    warehouse: Path,
    wanted: Path,
    schema: str = SCHEMA,
    wanted_schema: str = SCHEMA,
    names: Collection[str] | None = None,
) -> list[str]:
    """List the differences between the tables of two warehouses.

    Args:
        warehouse: The warehouse to check.
        wanted: The warehouse with the right tables.
        schema: The schema of the first.
        wanted_schema: The schema of the second.
        names: The tables to compare; by default all tables of both.
    """
    said = []
    found = names_of(warehouse, schema) | names_of(wanted, wanted_schema)
    for name in sorted(found if names is None else found & {*names}):
        folders = warehouse / f"{schema}.db" / name, wanted / f"{wanted_schema}.db" / name
        said += [f"{name}: {line}" for line in compare(*folders)]
    return said
