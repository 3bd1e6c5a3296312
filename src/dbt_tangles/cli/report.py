"""The command `tangles report`: options, progress and summary."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from dbt_tangles.cli.logs_of_tables import lacking
from dbt_tangles.cli.options import FOUND, with_tables
from dbt_tangles.cli.page import escape_line, quantity
from dbt_tangles.cli.progress import Tell, progress_bar
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report import single_file
from dbt_tangles.report.build import build
from dbt_tangles.report.parts import Limits


@click.command("report", epilog=examples("report", "report --out tables --single-file"))
@click.option(
    "--out", default="report", show_default=True, metavar="DIR", help="Write the report here; replaces an old report."
)
@click.option(
    "--limit",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="Show the N largest of each kind, and the N with the most problems.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 2000),
    default=100,
    show_default=True,
    metavar="N",
    help="Draw the last N nodes of each at most.",
)
@click.option(
    "--single-file",
    "is_single",
    is_flag=True,
    help="Write one file for mail, DIR.html, of at most 14 MB.",
)
@with_tables
def command(out: str, limit: int, nodes: int, is_single: bool, warehouse: str, schema: str) -> int:
    """Write a folder of HTML that draws the tables: open its index.html, without a network or a server.

    It shows the log at a glance, tangles, feeds, sets, bases, private groups and timelines.
    """
    tables = Tables(warehouse, schema)
    with progress_bar("reading the tables") as tell:
        if is_single:
            said = _write_file(tables, Path(f"{out.removesuffix('.html')}.html"), Limits(limit, nodes), tell)
        else:
            folder = build(tables, Path(out), Limits(limit, nodes), tell)
            shards = quantity(folder.shards, "shard{|s}")
            said = f"{folder.path / 'index.html'}: {shards}, {folder.bytes / 1e6:,.1f} MB of data"
    click.echo(escape_line(said))
    if missing := lacking(tables):
        click.echo(f"tables that are not built, so the report lacks their rows: {', '.join(missing)}", err=True)
    return FOUND


def _write_file(tables: Tables, file: Path, limits: Limits, tell: Tell) -> str:
    """Write a report as one file, and return its size and the parts that it leaves out."""
    most = single_file.MOST_BYTES
    with tempfile.TemporaryDirectory() as place:
        folder = build(tables, Path(place) / "report", limits, tell, most - single_file.CODE_BYTES)
        written = single_file.write(folder.path, file, most)
    left_out = [
        f"{part:,} of {total:,} {name}"
        for part, total, name in (
            (written.left_out, written.drawings, "drawings"),
            (folder.entries_left_out, folder.entries, "entries of the search"),
        )
        if part
    ]
    size = f"{file}: {written.bytes / 1e6:,.1f} MB"
    if not left_out:
        return size
    return (
        f"{size}; left out, because a single file has at most {most / 1e6:,.1f} MB: {' and '.join(left_out)}; "
        "without --single-file, a folder has them"
    )
