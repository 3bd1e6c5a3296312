"""Explains missing tables: their logs and vars, the schemas that a warehouse has, and the command that builds tables.

The tables of a log that the builds were not given do not count as missing.
"""

import re
from functools import cache
from pathlib import Path

import click

from dbt_tangles.cli import init
from dbt_tangles.cli.suggest import Ask, place_options, suggest
from dbt_tangles.cli.tables import Pair, Tables

#: Var of a log: the folders of models that its messages go through, with the words for their end.
AREAS = {
    "ssb_log": {
        "ssb": "SSB messages verified",
        "feeds": "feeds chained",
        "tangles": "tangles ordered",
        "groups": "private groups reduced",
        "timelines": "timelines sorted",
    },
    "pzp_log": {"pzp": "pzp messages verified", "sets": "sets reduced"},
    "autobase_log": {"autobase": "bases linearised"},
    "event_log": {"events": "events read", "timelines": "timelines sorted"},
}
#: Vars that switch a folder of models, or a model, beside its logs.
_SWITCHES = {"groups": ("private_groups",), "tangle_clocks": ("clock_limit",)}
_MOST = 20
#: A place such as s3a://bucket/tables; a path on this machine has lost the second slash of it.
_URI = re.compile(r"[A-Za-z][\w+.-]+:/")
#: A schema that has one of these holds tables of this project.
_OURS = ("runs", "ssb_messages", "pzp_messages", "autobase_nodes", "timeline_events")


@cache
def vars_of(name: str) -> tuple[str, ...]:
    """Return the vars of which one enables a table; empty for a table of runs, and for an unknown name."""
    models = (
        path for top in ("models", "python_models") for path in (init.project_folder() / top).glob(f"*/*/{name}.yml")
    )
    folder = next((path.parent.name for path in models), None)
    logs = tuple(log for log, areas in AREAS.items() if folder in areas)
    return _SWITCHES.get(name) or _SWITCHES.get(folder, logs)


def lacking(tables: Tables) -> list[str]:
    """List the tables that queries needed and did not find, except for those of logs that the builds were not given."""
    if isinstance(tables, Pair):
        return sorted(
            f"{name} of {whose}" for whose, side in (("A", tables.a), ("B", tables.b)) for name in lacking(side)
        )
    return sorted(name for name in tables.missing if _is_expected(tables, name))


def explain_absence(tables: Tables, name: str) -> str:
    """Say why a table is absent: the builds were not given its log, or left it out."""
    if _is_expected(tables, name):
        return f"{name} is not built; build it with all tables that it reads"
    return f"{name} is built only with the var {' or '.join(vars_of(name))}; set it"


def _is_expected(tables: Tables, name: str) -> bool:
    """Whether the builds were given a var that enables a table, as far as this is known."""
    needed, given = {*vars_of(name)}, tables.given_vars
    return given is None or not needed or bool(given & needed)


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
