"""`tangles sql`: runs a query of the user on the public tables."""

import json
from pathlib import Path
from typing import Any

import click
import duckdb
from click.core import ParameterSource

from dbt_tangles.cli.options import FOUND, as_json, limit_option, print_json_answer, with_tables
from dbt_tangles.cli.page import DIM, STRONG, Page, escape_unprintable, quantity, truncate
from dbt_tangles.cli.public_tables import ask, value_names
from dbt_tangles.cli.row_files import FORMATS, format_of, to_json, write_rows
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables

_WIDEST = 80


@click.command("sql", epilog=examples("sql 'from feeds'", "sql 'from messages' --out messages.csv"))
@click.argument("query")
@click.option(
    "--value",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of $NAME in QUERY, in JSON or as plain text; may be repeated.",
)
@limit_option(1000, "the first N rows")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all rows to this file, in the format of its suffix: .csv, .jsonl or .parquet.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="The format of --out, by default of stdout.")
@as_json
@with_tables
def command(
    query: str, given: tuple[str, ...], limit: int, out: Path | None, form: str | None, as_json: bool, **place: str
) -> int:
    """Run a query on the public tables, with DuckDB.

    Each public table is a view of its name. QUERY is one select: it reads these tables, and cannot read other files,
    load extensions, use a network or write. In CSV, arrays and structs are JSON, and null is an empty cell.
    """
    is_limited = click.get_current_context().get_parameter_source("limit") != ParameterSource.DEFAULT
    if (out or form) and (as_json or is_limited):
        raise click.UsageError("--out and --format write all rows; give them without --json and --limit")
    tables = Tables(**place)
    values = _read_values(given, value_names(query))
    if out or form:
        write_rows(tables, query, values, form or format_of(out), out)
        return FOUND
    columns, rows = ask(tables, query, lambda connection: _read(connection.execute(query, values), limit))
    is_cut = len(rows) > limit
    rows = rows[:limit]
    if as_json:
        print_json_answer({"columns": columns, "rows": rows, "is_cut": is_cut})
    else:
        _write(Page(), [column["name"] for column in columns], rows, is_cut)
    return FOUND


def _read_values(given: tuple[str, ...], wanted: set[str]) -> dict[str, Any]:
    """Parse `NAME=VALUE` settings; a value that is not JSON is a text, so ids need no quotes."""
    values: dict[str, Any] = {}
    for each in given:
        name, _, value = each.partition("=")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):
            values[name] = value
    if lacking := sorted(wanted - values.keys()):
        raise CommandError(f"the query lacks the value of ${lacking[0]}; give --value {lacking[0]}=VALUE")
    if unknown := sorted(values.keys() - wanted):
        raise CommandError(
            f"--value {unknown[0]}: the query has no ${unknown[0]}; remove the option, or write its name"
        )
    return values


def _read(cursor: duckdb.DuckDBPyConnection, limit: int) -> tuple[list[dict], list[list[Any]]]:
    columns = [{"name": name, "type": str(type_)} for name, type_, *_ in cursor.description]
    return columns, [[*map(to_json, row)] for row in cursor.fetchmany(limit + 1)]


def _write(page: Page, names: list[str], rows: list[list[Any]], is_cut: bool) -> None:
    cells = [[truncate(escape_unprintable(_cell(value)), _WIDEST) for value in row] for row in rows]
    heads = [truncate(escape_unprintable(name), _WIDEST) for name in names]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    page.line(("  ".join(map(str.ljust, heads, widths)).rstrip(), STRONG))
    for row in cells:
        page.line("  ".join(map(str.ljust, row, widths)).rstrip())
    more = "; more rows are left out (--limit)" if is_cut else ""
    page.line((f"{quantity(len(rows), 'row{|s}')}{more}", DIM))


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
