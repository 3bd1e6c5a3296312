"""`tangles why`: says where a message belongs, or why it was set aside, and dispatches to the module of its kind."""

import importlib

import click

from dbt_tangles.cli import log_places, subjects, text
from dbt_tangles.cli.ids import PLACES, complete_id, find_one, require_id
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_answer, with_tables
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables


@click.command("why", epilog=examples("why %JFZyZqZ", "why log.jsonl:87"))
@click.argument("given", metavar="ID|FILE:N", shell_complete=subjects.complete_ids)
@click.option("--in", "only", metavar="NAME", help="Only this tangle (name, root or NAME:ROOT), set, base or timeline.")
@click.option("--kind", type=click.Choice([*PLACES]), help="Look for ids of this kind only.")
@as_json
@with_tables
def command(given: str, only: str | None, kind: str | None, as_json: bool, warehouse: str, schema: str) -> int:
    """Say whether a message is verified, and where it belongs or why it was set aside.

    ID is an SSB message, a pzp message, an Autobase node, an event or a feed, whole or any unique prefix. SSB messages
    are sigils (%...), with or without their %, or URIs (ssb:message/classic/...). Quotes, brackets, percent-encoding
    or a link around it are ignored. FILE:N is line N of a log file.
    """
    tables = Tables(warehouse, schema)
    answer = explain(tables, *resolve(tables, given, kind), only)
    print_answer(tables, answer, lambda page: text.write(page, answer["kind"] or "unknown", answer), as_json)
    return FOUND if _is_found(answer) else NOT_FOUND


def explain(tables: Tables, kind: str, found: str, only: str | None = None) -> dict:
    """Explain an id or a line of a kind, as `resolve` returns them."""
    module = importlib.import_module(f"dbt_tangles.why.{kind}")
    return module.explain(tables, found, only) if kind in PLACES else module.explain(tables, found)


def resolve(tables: Tables, given: str, kind: str | None = None) -> tuple[str, str]:
    """Return the kind of an id or a line, and the whole id or `FILE:N`; an id precedes a file without a /."""
    is_line = kind is None and log_places.is_line(tables, given)
    if is_line and "/" in given:
        return "line", given
    found = find_one(tables, given, kind)
    if found is not None:
        return found
    if kind is None and (feeds := subjects.find_feeds(tables, given)):
        return "feed", feeds[0].id
    if is_line:
        return "line", given
    if tables.missing >= {places[0][0] for places in PLACES.values()}:
        raise CommandError(f"{tables.folder}: no table with ids is built; build ssb_messages or another one")
    wanted = complete_id(tables, given)
    if wanted is None and kind is None and log_places.may_be_line(given):
        return "line", given
    if wanted is None:
        wanted = given if subjects.matching(tables, given) else require_id(tables, given, kind)
    return "unknown", wanted


def _is_found(answer: dict) -> bool:
    """Whether the answer has any row; with `--in`, whether it has one in that tangle or set."""
    if answer.get("only") is not None:
        return bool(answer.get("tangles") or answer.get("sets"))
    return any(
        answer.get(part) for part in ("message", "feed", "sets", "bases", "timelines", "rejects", "lines", "claimed_by")
    )
