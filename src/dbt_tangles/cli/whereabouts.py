"""Says what a warehouse holds in place of the tables that were asked for, and how tables are built here."""

from __future__ import annotations

from pathlib import Path

from dbt_tangles.cli import init

_MOST = 20
#: A schema that has one of these holds tables of this project.
_OURS = ("runs", "ssb_messages", "pzp_messages", "autobase_nodes", "timeline_events")


def how_to_build() -> str:
    """Say how tables are built, by whoever installed the package or works in a clone of the project."""
    is_from_wheel = init.project_folder().is_relative_to(init.HERE)
    if is_from_wheel:
        return "`dbt build` in your project builds the tables (`tangles init DIR` makes a project)"
    return "`make build` builds the tables"


def say_what_is_there(warehouse: Path, schema: str) -> str:
    """Say why a schema has no tables: there is no warehouse, it is empty, or its tables are in other schemas.

    Schemas that hold tables of this project come first.
    """
    if not warehouse.is_dir():
        return f"{warehouse}: there is no such folder; {how_to_build()}; --warehouse DIR names another folder"
    held = {folder.stem: _tables_in(folder) for folder in sorted(warehouse.glob("*.db")) if folder.is_dir()}
    names = sorted((name for name in held if held[name]), key=lambda name: (held[name].isdisjoint(_OURS), name))
    if not names:
        return f"{warehouse}: there are no tables; {how_to_build()}; --warehouse DIR names another folder"
    shown = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST:,} more" if len(names) > _MOST else "")
    return f"{warehouse}: there is no schema {schema}; --schema NAME names another one, of these: {shown}"


def _tables_in(folder: Path) -> set[str]:
    return {table.name for table in folder.iterdir() if table.is_dir() and table.name[0] not in "._"}
