"""Errors for a schema without tables: the schemas that the warehouse has, and the command that builds tables."""

from __future__ import annotations

import re
from pathlib import Path

import click

from dbt_tangles.cli import init
from dbt_tangles.cli.suggest import Ask, place_options, suggest

_MOST = 20
#: A place such as s3a://bucket/tables; a path on this machine has lost the second slash of it.
_URI = re.compile(r"[A-Za-z][\w+.-]+:/")
#: A schema that has one of these holds tables of this project.
_OURS = ("runs", "ssb_messages", "pzp_messages", "autobase_nodes", "timeline_events")


def build_instruction(warehouse: Path) -> str:
    """Name the command that builds tables in a warehouse: in an installed package, or in a clone of the project."""
    # The arguments of `tangles diff` are warehouses, and no options.
    is_argument = click.get_current_context(silent=True) is not None and not place_options()
    named = ["--warehouse", str(warehouse)] if is_argument and warehouse != Path("warehouse") else []
    build = f"run `{suggest(Ask.of('build', 'LOG', *named))}`"
    if init.project_folder().is_relative_to(init.HERE):
        return f"{build}, or `dbt build` in your project (`tangles init DIR` makes one)"
    return build if named or place_options() else f"run `make build` in the clone, or {build.removeprefix('run ')}"


def describe_missing_tables(warehouse: Path, schema: str) -> str:
    """Explain why a schema has no tables: the warehouse does not exist, is empty, or has other schemas only.

    Schemas that hold tables of this project are listed first.
    """
    if _URI.match(str(warehouse)):
        return (
            f"{warehouse}: the commands read warehouses of folders on this machine; "
            "query tables in an object store with Spark or another engine of their format"
        )
    remedy = f"{build_instruction(warehouse)}, or name another folder with --warehouse DIR"
    if not warehouse.is_dir():
        return f"{warehouse}: the folder does not exist; {remedy}"
    held = {folder.stem: _tables_in(folder) for folder in sorted(warehouse.glob("*.db")) if folder.is_dir()}
    names = sorted((name for name in held if held[name]), key=lambda name: (held[name].isdisjoint(_OURS), name))
    if not names:
        return f"{warehouse}: the folder has no tables; {remedy}"
    shown = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST:,} more" if len(names) > _MOST else "")
    return f"{warehouse}: the folder has no schema {schema}; name one of its schemas with --schema: {shown}"


def _tables_in(folder: Path) -> set[str]:
    return {table.name for table in folder.iterdir() if table.is_dir() and table.name[0] not in "._"}
