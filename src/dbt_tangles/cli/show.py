"""`tangles show`: draws a graph on the terminal, or writes it for other programs."""

from dataclasses import replace

import click

from dbt_tangles.cli import drawings, graphs, subjects
from dbt_tangles.cli.graph import Graph
from dbt_tangles.cli.missing_tables import explain_absence
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, limit_option, print_answer, with_tables
from dbt_tangles.cli.page import escape_line
from dbt_tangles.cli.subjects import Subject
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables


@click.command("show", epilog=examples("show profile:%rn7TsDz5", "show @pJeg7GJ0 --format mermaid"))
@click.argument("given", metavar="ID", shell_complete=subjects.complete_subjects)
@click.option("--kind", type=click.Choice([*subjects.KINDS]), help="Look for IDs of this kind only.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "dot", "mermaid"]),
    default="text",
    help="The form of the drawing: for a terminal, for Graphviz, or for documents in Markdown.",
)
@limit_option(50, "the last N nodes", click.IntRange(1, 100_000))
@as_json
@with_tables
def command(given: str, kind: str | None, form: str, as_json: bool, limit: int, warehouse: str, schema: str) -> int:
    """Draw the graph of a tangle, feed, set, private group, base or timeline.

    ID is a tangle's root (or NAME:ROOT), a feed, a set, a group, a base or a timeline, whole or any unique prefix. The
    latest nodes come first, as in `git log --graph`; nodes that were set aside are dimmed.
    """
    tables = Tables(warehouse, schema)
    found = subjects.find(tables, given, kind)
    if not found:
        if tables.missing >= {table for table, *_ in subjects.KINDS.values()}:
            raise CommandError(f"{tables.folder}: no table with graphs is built; build tangles or another one")
        wanted = kind or "tangle, set, group, base, timeline or feed"
        click.echo(escape_line(f"tangles: no {wanted} matches {given}"), err=True)
        if others := subjects.other_names(tables, given):
            click.echo(escape_line(f"tangles on this root: {', '.join(others)}"), err=True)
        for name in sorted(tables.missing):
            click.echo(explain_absence(tables, name), err=True)
        return NOT_FOUND
    graph = _read(tables, given, found, limit)
    if as_json or form == "text":
        print_answer(tables, graph.as_dict(), lambda page: drawings.write(page, graph), as_json)
    else:
        click.echo(getattr(drawings, form)(graph))
        if graph.left_out:
            click.echo(f"tangles: {graph.left_out_note()}", err=True)
    return FOUND


def _read(tables: Tables, given: str, found: list[Subject], limit: int) -> Graph:
    """Read the graph of the subjects; tangles on one root are one graph if they are equal."""
    first, *others = (graphs.READ[each.kind](tables, each.name, each.id, limit) for each in found)
    if any(replace(other, name=first.name) != first for other in others):
        raise subjects.ambiguous(given, found)
    return replace(first, also=[other.name for other in others])
