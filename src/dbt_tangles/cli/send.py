"""`tangles send`: the messages that a peer lacks, and the ranges to ask it for."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

import click

from dbt_tangles.cli import replication
from dbt_tangles.cli.missing_tables import explain_absence
from dbt_tangles.cli.options import FOUND, as_json, name_of, print_json_answer, print_json_line, with_tables
from dbt_tangles.cli.page import escape_line, quantity
from dbt_tangles.cli.suggest import Ask, examples, suggest
from dbt_tangles.cli.tables import CommandError, Tables

_SHOWN = 3


@click.command("send", epilog=examples("send --clock > mine.json", "send --to theirs.json"))
@click.option(
    "--to",
    "peer_file",
    type=click.File(encoding="utf-8", errors="backslashreplace"),
    metavar="FILE",
    help='The messages that the peer has: {"AUTHOR": LENGTH, ...}, ["ID", ...], or its answer to --clock; - reads the '
    "standard input.",
)
@click.option("--ask", is_flag=True, help="Print the ranges to ask for: those of the peer, or without --to all gaps.")
@click.option("--clock", is_flag=True, help="Print the lengths of this warehouse's feeds, to be sent to a peer.")
@as_json
@with_tables
def command(peer_file: TextIO | None, ask: bool, clock: bool, as_json: bool, warehouse: str, schema: str) -> int:
    """List the messages that a peer lacks, in an order that it can apply.

    A message comes after the message before it in its feed, and after the messages that it follows in tangles. Messages
    outside of the verified chain of their feed are not sent. With --json, each line is a JSON object.
    """
    if clock and (peer_file or ask):
        raise click.UsageError("--clock prints this warehouse's own clock; give it without --to and --ask")
    if not (peer_file or ask or clock):
        raise click.UsageError("give --to FILE, --ask or --clock")
    tables = Tables(warehouse, schema)
    for name in ("feeds", "feed_messages", "ssb_messages"):
        if not tables.has(name):
            raise CommandError(f"{tables.folder}: {explain_absence(tables, name)}")
    if clock:
        print_json_answer({"clock": replication.own_clock(tables)})
        return FOUND
    peer = replication.read_peer(peer_file) if peer_file else None
    if ask:
        rows = replication.ranges_to_ask(tables, peer) if peer_file else replication.missing_here(tables)
        _write(rows, as_json)
        return FOUND
    peer_clock, unknown = replication.clock_of(tables, peer)
    _write(replication.lacking(tables, peer_clock), as_json)
    if unknown:
        shown = ", ".join(unknown[:_SHOWN])
        words = quantity(len(unknown), "id{ is|s are} unknown here")
        more = ", …" if len(unknown) > _SHOWN else ""
        given = name_of(peer_file)
        ask_all = Ask("send", options=("--to", "-" if given == "<stdin>" else given, "--ask"))
        said = f"tangles: {words} ({shown}{more}); `{suggest(ask_all)}` lists the ranges and messages to ask for"
        click.echo(escape_line(said), err=True)
    return FOUND


def _write(rows: Iterable[dict], as_json: bool) -> None:
    with suppress(BrokenPipeError):
        for row in rows:
            if as_json:
                print_json_line(row)
            else:
                click.echo(escape_line(" ".join(map(str, row.values()))))
