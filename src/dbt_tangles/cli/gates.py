"""The conditions of `tangles status --fail-on`: counts of rows that a gate does not allow, each with its first rows."""

import click

from dbt_tangles.cli.missing_tables import explain_absence
from dbt_tangles.cli.runs import is_building
from dbt_tangles.cli.tables import CommandError, Tables
from dbt_tangles.queries import sections

#: Statuses of runs that have not failed. One that is noted as running has failed if no process builds.
UNFAILED = ("success", "running")
_LISTED = 1000
_SQL = sections(__file__)
CONDITIONS = [*dict.fromkeys(name.partition("__")[0] for name in _SQL)]


def parse(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, int] | None:
    """Parse the value `NAME[=N],...` of `--fail-on`: conditions with the highest allowed numbers."""
    found = {}
    for part in () if value is None else value.split(","):
        name, given, allowed = part.strip().partition("=")
        if name not in CONDITIONS:
            raise click.BadParameter(f"{name!r} is not a condition; give one of {', '.join(CONDITIONS)}")
        if given and not (allowed.isascii() and allowed.isdigit()):
            raise click.BadParameter(f"{part!r}: the allowed number is not a whole number from 0")
        found[name] = int(allowed or 0)
    return found or None


def check(tables: Tables, gates: dict[str, int]) -> list[dict]:
    """Count the rows of each condition; fail if all tables of one are missing, so that it would pass unchecked.

    Returns:
        For each condition its `name`; `count`; `allowed`, the highest number that passes; `is_failed`; and `first`, the
        first 1,000 rows as text.
    """
    unfailed = UNFAILED if is_building(tables) else UNFAILED[:1]
    found = []
    for name, allowed in gates.items():
        queries = {key.partition("__")[2]: sql for key, sql in _SQL.items() if key.startswith(f"{name}__")}
        built = [table for table in queries if tables.has(table)]
        if not built:
            absent = "; ".join(explain_absence(tables, table) for table in queries)
            raise CommandError(f"{tables.folder}: --fail-on {name} finds no table to check: {absent}")
        count, first = 0, []
        values = {"unfailed": list(unfailed)} if name == "failed_run" else {}
        for table in built:
            query = f"select what, (sum(n) over ())::bigint as total from ({queries[table]}) order by what"
            rows = tables.rows(f"{query} limit {_LISTED}", **values)
            count += rows[0]["total"] if rows else 0
            first += [row["what"] for row in rows]
        answer = {"name": name, "count": count, "allowed": allowed, "is_failed": count > allowed}
        found.append({**answer, "first": first[:_LISTED]})
    return found


def has_failed(runs: list[dict]) -> bool:
    """Whether the latest run that ended has failed; `runs` are the latest runs, the last first."""
    return next((run["status"] not in UNFAILED for run in runs if run["status"] != "running"), False)
