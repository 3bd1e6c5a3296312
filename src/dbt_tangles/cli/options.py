"""Options of all commands (warehouse, schema, --json), exit codes, and the output of answers."""

from collections.abc import Callable
from typing import TextIO

import click

from dbt_tangles.cli.log_places import shortener
from dbt_tangles.cli.missing_tables import lacking
from dbt_tangles.cli.page import DIM, Page, print_json, to_json_text
from dbt_tangles.cli.tables import Pair, Tables

FOUND, NOT_FOUND, USAGE = 0, 1, 2

_WAREHOUSE = click.option(
    "--warehouse",
    envvar="TANGLES_WAREHOUSE",
    default="warehouse",
    show_default="TANGLES_WAREHOUSE, else warehouse",
    metavar="DIR",
    type=click.Path(),  # For shell completion. `Tables` checks that it exists; `check` also takes a URI.
    help="The folder of the tables, as in profiles.yml.",
)
schema = click.option(
    "--schema",
    envvar="TANGLES_SCHEMA",
    default="tangles",
    show_default="TANGLES_SCHEMA, else tangles",
    metavar="NAME",
    help="The schema of the tables.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object, for programs.")


def limit_option(default: int, shown: str, accepted: click.IntRange | None = None) -> Callable[[Callable], Callable]:
    """Return the option `limit` of a command; `shown` names the rows that N counts, such as "the first N findings"."""
    return click.option(
        "--limit", type=accepted or click.IntRange(1), default=default, metavar="N", help=f"Print {shown} at most."
    )


def with_tables(function: Callable[..., int]) -> Callable[..., int]:
    """Decorate a command: add the options `warehouse` and `schema`."""
    return _WAREHOUSE(schema(function))


def name_of(file: TextIO) -> str:
    """Return the name of an input for errors; the standard input may have none."""
    return getattr(file, "name", "<stdin>")


def schema_name() -> str:
    """Return the name and version of the JSON answers of the current command; docs/reference/schemas describes them."""
    return f"tangles/{click.get_current_context().info_name}/1"


def print_json_answer(answer: dict) -> None:
    """Print the JSON answer of the current command, with the name of its schema."""
    print_json({"schema": schema_name(), **answer})


def print_json_line(answer: dict) -> None:
    """Print one of several JSON answers of the current command on a line, with the name of its schema."""
    click.echo(to_json_text({"schema": schema_name(), **answer}))


def print_answer(tables: Tables, answer: dict, write: Callable[[Page], None], as_json: bool) -> None:
    """Print an answer, as JSON or by `write`, and the tables that it lacks."""
    missing = lacking(tables)
    if as_json:
        print_json_answer({**answer, "missing_tables": missing})
        return
    page = Page()
    if not isinstance(tables, Pair):
        page.shorten = shortener(tables)
    write(page)
    if missing:
        page.line((f"tables that are not built, so the answer lacks their rows: {', '.join(missing)}", DIM))
