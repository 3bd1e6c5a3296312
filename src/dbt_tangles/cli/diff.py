"""`tangles diff`: compares the tables of two replicas, and tells whether their messages explain the differences."""

import re
from functools import partial

import click

from dbt_tangles.cli import text
from dbt_tangles.cli.compare import COMPARED, add_causes, compare, find_inputs
from dbt_tangles.cli.duplicate_tangles import merge_equal
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, limit_option, print_answer
from dbt_tangles.cli.options import schema as schema_option
from dbt_tangles.cli.page import inflect, join_names, truncate
from dbt_tangles.cli.runs import last_runs
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Pair, Tables

#: The plural name of each comparison: its name for any number.
_WORDS = {inflect(2, each.what): each.what for each in COMPARED}
#: The id of a tangle's timeline: the tangle's name and root.
_OF_TANGLE = re.compile(r"((?:ssb:)?[^:]*):(%.*)", re.DOTALL)


@click.command("diff", epilog=examples("diff ann bob", "diff ann bob --limit 20 --json"))
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@limit_option(5, "the first N differences of each table", click.IntRange(0, 100_000))
@as_json
@schema_option
def command(a: str, b: str, limit: int, as_json: bool, schema: str) -> int:
    """Compare the warehouses A and B: rows that only one has, and rows with different values.

    Replicas that hold the same messages compute the same tables. Exit code 0: no difference; 1: differences.
    """
    pair = Pair(Tables(a, schema), Tables(b, schema))
    found = [(each, compare(pair, each, max(limit, 1))) for each in COMPARED]
    tables = [answer for _, answer in found if answer]
    if not tables:
        raise CommandError(
            f"{pair.a.folder} and {pair.b.folder} have no table in common; build the same models in both warehouses"
        )
    compared = {each.table for each, answer in found if answer}
    if not any(pair.rows(f"select 1 from {whose}.{table} limit 1") for table in compared for whose in "ab"):
        raise CommandError(
            f"{pair.a.folder} and {pair.b.folder} have no row to compare; build both from their logs (`tangles status`)"
        )
    has_same = all(not each[side]["total"] for each in tables if each["is_input"] for side in ("only_a", "only_b"))
    find_inputs(pair)
    for each, answer in found:
        if answer:
            add_causes(pair, each, answer)
    differs = any(each[side]["total"] for each in tables for side in ("only_a", "only_b", "differ"))
    answer = {
        "a": str(pair.a.folder),
        "b": str(pair.b.folder),
        "is_same": not differs,
        "has_same_messages": has_same,
        "vars": _vars(pair),
        "tables": tables,
    }
    said = {"limit": limit, "row_words": _WORDS, "differences": partial(_differences, limit=limit)}
    print_answer(pair, answer, lambda page: text.write(page, "diff", answer, **said), as_json)
    return NOT_FOUND if differs else FOUND


def _vars(pair: Pair) -> dict[str, list]:
    """Return the vars whose values differ between the last runs of the two; an empty dict if a run is unknown."""
    runs = [next((run for run in last_runs(tables) if run["current_tables"]), None) for tables in (pair.a, pair.b)]
    if not all(runs):
        return {}
    one, other = (run["vars"] for run in runs)
    return {
        name: [one.get(name), other.get(name)] for name in sorted({*one, *other}) if one.get(name) != other.get(name)
    }


def _differences(side: dict, limit: int) -> list[tuple[str, list[str], dict]]:
    """Return the first differences of one side: the name of each, its changes in words, and the row.

    Equal differences of tangles on one root, or of their timelines, are one difference with the names of all.
    """
    named = []
    for row in side["first"]:
        timeline = _OF_TANGLE.fullmatch(row.get("timeline_id") or "")
        rest = {name: value for name, value in row.items() if name != "tangle_name"}
        if timeline:
            rest["timeline_id"] = timeline[2]
        named.append({"name": timeline[1] if timeline else row.get("tangle_name", ""), **rest})
    found = []
    for names, row in merge_equal(named, "name")[:limit]:
        keys = [value for name, value in row.items() if name not in ("name", "values", "cause") and value is not None]
        words = [join_names([*filter(None, names)]), *(label(str(value)) for value in keys)]
        changes = [f"{key} {truncate(str(a))} / {truncate(str(b))}" for key, (a, b) in row.get("values", {}).items()]
        found.append((" ".join(filter(None, words)), changes, row))
    return found
