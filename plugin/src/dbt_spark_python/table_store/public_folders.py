"""Reads the public folders of a warehouse: the tables that readers see, and the origin of each table."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class PublishedTable:
    """A table in its public place; without a manifest, the fields from `run_id` on are empty."""

    schema: str
    name: str
    folder: Path | None  # in a warehouse of folders
    run_id: str | None = None  # the last run that built or reused the table
    built_at: str | None = None  # the time of its last build (ISO 8601, UTC)
    changed_in: str | None = None  # the run that last changed its rows
    columns: str | None = None  # its schema as Spark's JSON, if the files do not contain all of it
    changes: dict[str, int] | None = None  # of that run: `rows_added`, `rows_changed`, `rows_removed`, if counted
    snapshot: str | None = None  # the current snapshot, in a catalog of snapshots (Iceberg, Delta Lake)


class Publication(NamedTuple):
    """The origin of a table, for its manifest, and how it is published."""

    definition: dict[str, str] | None = None  # the digests of the parts of its node's definition
    inputs: dict[str, str] | None = None  # the digests of the contents of its inputs, if all are known and count
    groups: dict[str, Any] | None = None  # the group versions that it was built from: `history`, `since`, `upto`
    key_columns: list[str] | None = None  # if changes are counted
    changed: Any = None  # the `earlier.ChangedGroups` of a table that is built for these alone
    is_reused: bool = False  # whether the published table stays as it is
    is_grown: bool = False  # whether the rows of the published table stay where they are

    def origin(self) -> dict[str, Any]:
        """Return the entries for the manifest."""
        return {"definition": self.definition, "inputs": self.inputs, "groups": self.groups}


def is_delta(folder: Path) -> bool:
    """Whether the table in a folder is a Delta Lake table. The log of such a table lists its valid files."""
    return (folder / "_delta_log").is_dir()


def is_public(folder: Path) -> bool:
    """Whether readers see a folder as a table. A folder that this user may not read does not count."""
    if folder.name.startswith((".", "_")) or not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        return False
    return not (folder / "_temporary").exists()


def as_published(folder: Path, entries: dict) -> PublishedTable:
    """Return the table in a folder, described by its manifest."""
    fields = {key: entries.get(key) for key in ("run_id", "built_at", "changed_in", "columns", "changes")}
    return PublishedTable(folder.parent.name[: -len(".db")], folder.name, folder, **fields)
