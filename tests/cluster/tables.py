"""Compare the tables of two builds, every row of every table."""

import json
from collections.abc import Collection
from pathlib import Path

from tests.cluster.build import SCHEMA, Build
from tests.same_tables import LEFT_OUT, compare

#: Temporary folders of a writer of Spark or Hive, which it deletes at the end.
WRITING = ("_temporary", ".spark-staging", ".hive-staging")


def names_of(warehouse: Path, schema: str = SCHEMA) -> set[str]:
    return {path.name for path in (warehouse / f"{schema}.db").glob("*") if path.name[0] not in "._"}


def made_by(build: Build) -> set[str]:
    """Return the tables and views of a successful build that was the last of its folder."""
    results = json.loads((build.target / "run_results.json").read_text())["results"]
    return {result["unique_id"].rpartition(".")[2] for result in results}


def leftovers(warehouse: Path, made: Collection[str]) -> list[str]:
    """Return the tables and folders that a build left besides its tables and the tables about runs."""
    told = {name for name, columns in LEFT_OUT.items() if columns is None}
    tables = [f"{name} is left over" for name in sorted(names_of(warehouse) - {*made} - told)]
    folders = [path for path in warehouse.rglob("*") if path.is_dir() and path.name.startswith(WRITING)]
    return tables + [f"{path} is left over" for path in sorted(folders)]


def differences(
    warehouse: Path, wanted: Path, wanted_schema: str = SCHEMA, names: Collection[str] | None = None
) -> list[str]:
    """List the differences between a warehouse and one with the right tables; by default of all tables of both."""
    found = names_of(warehouse) | names_of(wanted, wanted_schema)
    return [
        f"{name}: {line}"
        for name in sorted(found if names is None else found & {*names})
        for line in compare(warehouse / f"{SCHEMA}.db" / name, wanted / f"{wanted_schema}.db" / name)
    ]
