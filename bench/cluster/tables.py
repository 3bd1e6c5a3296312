"""Whether a build made the tables that another made, every row of every table."""

from __future__ import annotations

from pathlib import Path

from bench.cluster.build import SCHEMA
from bench.same_tables import compare


def names_of(warehouse: Path, schema: str = SCHEMA) -> set[str]:
    """The tables of a warehouse."""
    folder = warehouse / f"{schema}.db"
    return {path.name for path in folder.glob("*") if path.name[0] not in "._"} if folder.is_dir() else set()


def differences(warehouse: Path, wanted: Path, schema: str = SCHEMA, wanted_schema: str = SCHEMA) -> list[str]:
    """Say how the tables of a warehouse are not those of another; nothing where they are the same."""
    said = []
    for name in sorted(names_of(warehouse, schema) | names_of(wanted, wanted_schema)):
        folders = warehouse / f"{schema}.db" / name, wanted / f"{wanted_schema}.db" / name
        said += [f"{name}: {line}" for line in compare(*folders)]
    return said
