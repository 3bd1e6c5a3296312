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


class Gates(click.ParamType):
    """The value of `--fail-on`: names of conditions with the highest allowed numbers, separated by commas."""

    name = "conditions"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        """Parse `NAME[=N],...`."""
        found = {}
        for part in value.split(","):
            name, given, allowed = part.strip().partition("=")
            if name not in CONDITIONS:
                self.fail(f"{name!r} is not a condition; give one of {', '.join(CONDITIONS)}", param, ctx)
            if given and not (allowed.isascii() and allowed.isdigit()):
                self.fail(f"{part!r}: the allowed number is not a whole number from 0", param, ctx)
            found[name] = int(allowed or 0)
        return found


def check(tables: Tables, gates: dict[str, int]) -> list[dict]:
    """Count the rows of each condition.

    Returns:
        For each condition its `name`; `count`; `allowed`, the highest number that passes; `is_failed`; and `first`, the
        first 1,000 rows as text.
    """
    unfailed = UNFAILED if is_building(tables) else UNFAILED[:1]
    return [_check(tables, name, allowed, unfailed) for name, allowed in gates.items()]


def _check(tables: Tables, name: str, allowed: int, unfailed: tuple[str, ...]) -> dict:
    queries = {key.partition("__")[2]: sql for key, sql in _SQL.items() if key.startswith(f"{name}__")}
    built = [table for table in queries if tables.has(table)]
    if not built:
        raise CommandError(
            f"{tables.folder}: --fail-on {name} finds no table to check:"
            f" {'; '.join(explain_absence(tables, table) for table in queries)}"
        )
    count, first = 0, []
    values = {"unfailed": list(unfailed)} if name == "failed_run" else {}
    for table in built:
        query = f"select what, (sum(n) over ())::bigint as total from ({queries[table]}) order by what limit {_LISTED}"
        rows = tables.rows(query, **values)
        count += rows[0]["total"] if rows else 0
        first += [row["what"] for row in rows]
    return {"name": name, "count": count, "allowed": allowed, "is_failed": count > allowed, "first": first[:_LISTED]}


def has_failed(runs: list[dict]) -> bool:
    """Whether the latest run that ended has failed; `runs` are the latest runs, the last first."""
    return next((run["status"] not in UNFAILED for run in runs if run["status"] != "running"), False)
