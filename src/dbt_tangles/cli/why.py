"""`tangles why`: where a message is, or why it is not there."""

from __future__ import annotations

import importlib

import click

from dbt_tangles.cli import claims, complete, subjects
from dbt_tangles.cli.ids import MODULES, PLACES, awaited, find_one, meant
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, give, of_tables
from dbt_tangles.cli.tables import AskError, Tables


@click.command("why")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete.of_messages)
@click.option("--line", metavar="FILE:N", help="Ask about a line of a log instead.")
@click.option("--in", "only", metavar="NAME", help="Only this tangle (name, root or NAME:ROOT), set, base or timeline.")
@click.option("--kind", type=click.Choice([*PLACES]), help="Take the id for one of this kind.")
@as_json
@of_tables
def command(
    id_: str | None, line: str | None, only: str | None, kind: str | None, as_json: bool, warehouse: str, schema: str
) -> int:
    """Say whether a message is verified, and where it belongs or why not.

    ID is a message, a pzp message, a node of an Autobase or an event, by any unique prefix: messages in sigil form
    (%...) or as a URI (ssb:message/classic/...). Quotes, brackets, percent-encoding and a link around it do not matter.
    """
    if bool(id_) == bool(line):
        raise click.UsageError("say an ID, or --line FILE:N")
    tables = Tables(warehouse, schema)
    if line:
        return _ask(tables, "dbt_tangles.cli.why_line", line, {}, as_json)
    found = find_one(tables, id_, kind)
    if found is None:
        if tables.missing >= {places[0][0] for places in PLACES.values()}:
            raise AskError(f"{tables.folder}: none of the tables that have ids is built")
        wanted = awaited(tables, id_) or claims.complete(tables, id_)
        if wanted is None:
            wanted = id_ if subjects.matching(tables, id_) else meant(tables, id_, kind)
        return _ask(tables, "dbt_tangles.cli.why_unknown", wanted, {}, as_json)
    return _ask(tables, MODULES[found.kind], found.id, {"only": only}, as_json)


def _ask(tables: Tables, module: str, given: str, options: dict, in_json: bool) -> int:
    why = importlib.import_module(module)
    answer = why.explain(tables, given, **options)
    give(tables, answer, why.write, in_json)
    return FOUND if _is_found(answer) else NOT_FOUND


def _is_found(answer: dict) -> bool:
    """Whether there is anything to tell; with `--in` something may be known, but not there."""
    if answer.get("only") is not None:
        return bool(answer.get("tangles") or answer.get("sets"))
    return any(answer.get(part) for part in ("message", "sets", "bases", "timelines", "rejects", "lines", "claimed_by"))
