"""The command `tangles report`: options, progress and summary."""

from pathlib import Path

import click

from dbt_tangles.cli.missing_tables import lacking
from dbt_tangles.cli.options import FOUND, with_tables
from dbt_tangles.cli.page import escape_line, progress_bar, quantity
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.build import build
from dbt_tangles.report.parts import Limits


@click.command("report", epilog=examples("report", "report --out tables --limit 30"))
@click.option("--out", default="report", metavar="DIR", help="Write the report here; replaces an old report.")
@click.option(
    "--limit",
    type=click.IntRange(0, 1000),
    default=10,
    metavar="N",
    help="Draw the N largest of each kind, and the N with the most problems.",
)
@with_tables
def command(out: str, limit: int, warehouse: str, schema: str) -> int:
    """Write a folder of HTML that draws the tables: open its index.html, without a network or a server.

    It shows the log at a glance, tangles, feeds, sets, bases, private groups and timelines.
    """
    tables = Tables(warehouse, schema)
    with progress_bar("reading the tables") as tell:
        folder = build(tables, Path(out), Limits(limit), tell)
    shards = quantity(folder.shards, "shard{|s}")
    click.echo(escape_line(f"{folder.path / 'index.html'}: {shards}, {folder.bytes / 1e6:,.1f} MB of data"))
    if missing := lacking(tables):
        click.echo(f"tables that are not built, so the report lacks their rows: {', '.join(missing)}", err=True)
    return FOUND
