"""The conditions of `tangles status --fail-on`: counts of rows that a gate does not allow, each with its first rows."""

import click

from dbt_tangles.cli.logs_of_tables import explain_absence
from dbt_tangles.cli.runs import is_building
from dbt_tangles.cli.tables import CommandError, Tables

#: Statuses of runs that have not failed.
UNFAILED = ("success", "running")
_LISTED = 1000


def _of_rejects(table: str) -> str:
    return f"""select coalesce(source_file || ':' || line, '{table}') || ' ' || reason as what,
        greatest(line_count, 1) as n from {table}"""


def _of_runs(unfailed: tuple[str, ...]) -> dict[str, str]:
    known = ", ".join(f"'{status}'" for status in unfailed)
    return {
        "runs": f"""select run_id || ' ' || status as what, 1 as n from runs as r where status not in ({known})
        and epoch_us(started_at) > coalesce(
            (select max(epoch_us(s.started_at)) from runs as s where s.status = 'success'), -1)"""
    }


#: Name of a condition: for each of its tables, a query of the counted rows: a text `what`, and `n`, the number of lines
#: that it stands for. `failed_run` reads the runs alone.
CONDITIONS = {
    "rejects": {
        name: _of_rejects(name) for name in ("ssb_rejects", "pzp_rejects", "autobase_rejects", "timeline_rejects")
    },
    "forks": {
        "feeds": """select 'feed ' || author || ' at sequence ' || fork_sequence as what, 1 as n from feeds
        where status = 'forked'"""
    },
    "gaps": {
        "feeds": """select 'feed ' || author || ' at sequence ' || gap_sequence as what, 1 as n from feeds
        where gap_sequence is not null"""
    },
    "set_aside": {
        # Equal tangles of one root, such as thread and ssb:legacy_thread, set a message aside once.
        "tangle_messages": """select distinct
            message_id || ' ' || set_aside_reason || ', root ' || coalesce(root_id, 'unknown') as what, 1 as n
        from tangle_messages where set_aside_reason is not null""",
        "group_messages": """select message_id || ' ' || set_aside_reason || ', private groups' as what, 1 as n
        from group_messages where set_aside_reason is not null""",
        "set_messages": """select message_id || ' ' || reject_reason || ', set ' || set_id as what, 1 as n
        from set_messages where not is_valid and (not is_held or reject_reason = 'bad_set_data')""",
    },
    "left_out_of_record": {
        "records": """select each.message_id || ' ' || each.reason || ', record ' || tangle_name || ':' || root_id
        as what, 1 as n from (select tangle_name, root_id, unnest(left_out) as each from records)"""
    },
    "failed_run": _of_runs(UNFAILED),
}

#: A run that is noted as running has failed if no process builds.
_IF_NONE_BUILDS = _of_runs(("success",))


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

    Raises:
        CommandError: All tables of a condition are missing, so that it would pass unchecked.
    """
    conditions = CONDITIONS if is_building(tables) else CONDITIONS | {"failed_run": _IF_NONE_BUILDS}
    return [_check(tables, name, allowed, conditions[name]) for name, allowed in gates.items()]


def _check(tables: Tables, name: str, allowed: int, queries: dict[str, str]) -> dict:
    built = [table for table in queries if tables.has(table)]
    if not built:
        raise CommandError(
            f"{tables.folder}: --fail-on {name} finds no table to check:"
            f" {'; '.join(explain_absence(tables, table) for table in queries)}"
        )
    count, first = 0, []
    for table in built:
        query = queries[table]
        count += tables.rows(f"select coalesce(sum(n), 0)::bigint as n from ({query})")[0]["n"]
        first += [row["what"] for row in tables.rows(f"select what from ({query}) order by what limit {_LISTED}")]
    return {"name": name, "count": count, "allowed": allowed, "is_failed": count > allowed, "first": first[:_LISTED]}


def has_failed(runs: list[dict]) -> bool:
    """Whether the latest run that ended has failed; `runs` are the latest runs, the last first."""
    return next((run["status"] not in UNFAILED for run in runs if run["status"] != "running"), False)
