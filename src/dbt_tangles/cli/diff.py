"""`tangles diff`: compares the tables of two replicas, and tells whether their messages explain the differences."""

import re

import click

from dbt_tangles.cli.compare import COMPARED, compare
from dbt_tangles.cli.compare_orders import ORDERS, SETTLED, compare_order
from dbt_tangles.cli.duplicate_tangles import merge_equal
from dbt_tangles.cli.first_causes import add_causes, find_inputs
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, limit_option, print_answer, with_exit_code
from dbt_tangles.cli.options import schema as schema_option
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page, inflect, join_names, truncate
from dbt_tangles.cli.runs import last_runs
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Pair, Tables

#: The plural name of each comparison: its name for any number.
_WORDS = {inflect(2, each.what): each.what for each in (*COMPARED, *ORDERS, SETTLED)}
#: The id of a tangle's timeline: the tangle's name and root.
_OF_TANGLE = re.compile(r"((?:ssb:)?[^:]*):(%.*)", re.DOTALL)


@click.command("diff", epilog=examples("diff ann bob", "diff ann bob --limit 20 --json"))
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@limit_option(5, "the first N differences of each table", click.IntRange(0, 100_000))
@as_json
@schema_option
@with_exit_code
def command(a: str, b: str, limit: int, as_json: bool, schema: str) -> int:
    """Compare the warehouses A and B: rows that only one has, and rows with different values.

    Replicas that hold the same messages compute the same tables. Exit code 0: no difference; 1: differences.
    """
    pair = Pair(Tables(a, schema), Tables(b, schema))
    found = [compare(pair, each, max(limit, 1)) for each in COMPARED]
    found += [compare_order(pair, each, max(limit, 1)) for each in (*ORDERS, SETTLED)]
    tables = [each for each in found if each]
    if not tables:
        raise CommandError(
            f"{pair.a.folder} and {pair.b.folder} have no table in common; build the same models in both warehouses"
        )
    if not any(pair.rows(f"select 1 from {whose}.{each['table']} limit 1") for each in tables for whose in "ab"):
        raise CommandError(
            f"{pair.a.folder} and {pair.b.folder} have no row to compare; build both from their logs (`tangles status`)"
        )
    has_same = all(not each[side]["total"] for each in tables if each["is_input"] for side in ("only_a", "only_b"))
    find_inputs(pair)
    for each in tables:
        add_causes(pair, each)
    differs = any(each[side]["total"] for each in tables for side in ("only_a", "only_b", "differ"))
    answer = {
        "a": str(pair.a.folder),
        "b": str(pair.b.folder),
        "is_same": not differs,
        "has_same_messages": has_same,
        "vars": _vars(pair),
        "tables": tables,
    }
    print_answer(pair, answer, lambda page, answer: _write(page, answer, limit), as_json)
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


def _write(page: Page, answer: dict, limit: int) -> None:
    page.line("A ", (answer["a"], STRONG))
    page.line("B ", (answer["b"], STRONG))
    for name, (one, other) in answer["vars"].items():
        page.line(f"built with {name} {one} in A, {other} in B")
    if answer["is_same"]:
        page.line(
            ("no difference", GOOD), " in the tables of both: " + ", ".join(row["table"] for row in answer["tables"])
        )
        return
    for row in answer["tables"]:
        for side, said in (("only_a", "only in A"), ("only_b", "only in B"), ("differ", "differ{s|}")):
            once = row[side]["once"]
            if once:
                what = inflect(once, _WORDS[row["what"]])
                page.line((f"{once:>11,} ", STRONG), f"{what} ", (inflect(once, said), BAD))
                _write_first(page, row[side], limit, row["is_input"])
    if not answer["has_same_messages"]:
        page.line("the logs differ: messages that one of them lacks may explain all other differences")
    elif answer["vars"]:
        page.line("both have the same messages; different vars may explain the differences")
    else:
        page.line(
            ("both have the same messages, but compute different tables", BAD),
            ": one was built by another version, or is wrong",
        )


def _write_first(page: Page, side: dict, limit: int, is_input: bool) -> None:
    for of, row in _merge_names(side["first"])[:limit]:
        keys = {name: value for name, value in row.items() if name not in ("name", "values", "cause")}
        names = [of, *(label(str(value)) for value in keys.values() if value is not None)]
        changes = [
            f"{name} {truncate(str(one))} / {truncate(str(two))}" for name, (one, two) in row.get("values", {}).items()
        ]
        page.line((" ".join(filter(None, names)), ID), *([": " + ", ".join(changes)] if changes else []), indent=7)
        if row.get("cause"):
            page.line("first cause: ", (row["cause"]["id"], ID), f", {row['cause']['side']}", indent=8)
        elif "cause" in row and not is_input:
            page.line(("both have the same messages of it", DIM), indent=8)
    if side["once"] > limit and limit:
        page.line((f"… and {side['once'] - limit:,} more (--limit)", DIM), indent=7)


def _merge_names(rows: list[dict]) -> list[tuple[str, dict]]:
    """Merge equal differences of tangles on one root, or of their timelines, and list their names."""
    named = []
    for row in rows:
        each = {"name": "", **row}
        if "tangle_name" in row:
            each["name"] = each.pop("tangle_name")
        elif match := _OF_TANGLE.fullmatch(row.get("timeline_id") or ""):
            each |= {"name": match[1], "timeline_id": match[2]}
        named.append(each)
    return [(join_names([*filter(None, names)]), row) for names, row in merge_equal(named, "name")]
