"""Lists the problems in the tables, the most urgent first, each with the command that explains it."""

from pathlib import Path

import yaml

from dbt_tangles.cli import messages
from dbt_tangles.cli.log_places import LOGS
from dbt_tangles.cli.messages import FILES
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.suggest import Ask
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections

_SQL = sections(__file__)
#: Section of problems.sql: the kind of problem, the most urgent first.
_KINDS = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
_MOST = 3


def find(tables: Tables, runs: list[dict], results: dict | None) -> list[dict]:
    """List the problems, the most urgent first.

    Returns:
        For each its `words`; `ask`, the next command, if one helps; and `page`, the page of the report that lists all
        problems of its kind, where the problem stands for several.
    """
    found = [*_rejects(tables), *_runs(runs, results), *_tests(runs, results), *_files(tables)]
    for name, kind in _KINDS.items():
        if name != "records" or tables.files("records"):
            found += _first(tables, _SQL[name], kind)
    return found


def _item(words: str, *ask: str, page: str | None = None) -> dict:
    return {"words": words, "ask": Ask.of(*ask) if ask else None, "page": page}


def _first(tables: Tables, sql: str, kind: dict, **values: list[str]) -> list[dict]:
    """List the first problems of a kind, say how many others there are, and give the query that lists all."""
    rows = tables.rows(f"{sql} limit {_MOST}", **values)
    left = tables.rows(f"select count(*) as n from ({sql})", **values)[0]["n"] - _MOST if len(rows) == _MOST else 0
    command, *options = kind["ask"]
    found = [_item(row["words"], command, row["argument"], *options) for row in rows]
    more = [_item(quantity(left, kind["more"]), "sql", kind["query"], page=kind["page"])] if left > 0 else []
    return found + more


def _runs(runs: list[dict], results: dict | None) -> list[dict]:
    if not runs:
        return []
    last, *_ = runs
    built = [run for run in runs if run["current_tables"]]
    items = []
    if last["status"] == "running":
        items.append(_item(f"a build is running since {last['started_at']}: a table is from it or from an older run"))
    elif last["status"] != "success":
        items.append(_item(f"the last run ended with {last['status']}{_broken(last, results)}"))
    if len(built) > 1:
        items.append(_item(f"the tables come from {len(built)} runs"))
    return items


def _broken(run: dict, results: dict | None) -> str:
    """List the nodes that failed in a run, if dbt's results are of that run."""
    if run["status"] == "interrupted":
        return ""
    if results is None or results["run_id"] != run["run_id"]:
        return "; to see which model or test failed, give dbt's target folder of that run: --target-path DIR"
    names = [f"{row['kind']} {row['name']}" for row in results["broken"]]
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return f": {', '.join(names[:_MOST])}{more}" if names else ""


def _tests(runs: list[dict], results: dict | None) -> list[dict]:
    """List the failed tests of the last run, or of a later command of dbt; a later run may have mended older faults."""
    if results is None or (
        runs and results["run_id"] != runs[0]["run_id"] and results["at"][:19].replace("T", " ") < runs[0]["started_at"]
    ):
        return []
    bad = [test for test in results["failed"] if test["status"] != "warn"]
    return [_item(f"test {test['name']}: {test['status']}") for test in bad]


def _rejects(tables: Tables) -> list[dict]:
    """Count the rejected lines by log and reason, the most frequent reasons of each log first; faults of files apart.

    The frequent reasons have the place of their first line. The others are named together.
    """
    items = []
    for name, log in LOGS.items():
        lines = f"rejected line{{|s}} of the {log.title} log"
        rows = tables.rows(_SQL["rejects"].replace("from rejects", f"from {log.rejects}"), faults=[*FILES])
        for row in rows[:_MOST]:
            words = f"{quantity(row['n'], lines)}, {row['reason']}: {getattr(messages, name)(row['reason'])}"
            # An order that is too large is no line of a file.
            ask = ["why", f"{row['first']['file']}:{row['first']['line']}"] if row["first"] else []
            items.append(_item(words, *ask, page="rejects"))
        if others := rows[_MOST:]:
            named = ", ".join(f"{row['reason']} {row['n']:,}" for row in others)
            query = f"select reason, source_file, line, detail from {log.rejects} order by all"
            words = f"{quantity(sum(row['n'] for row in others), f'more {lines}')}: {named}"
            items.append(_item(words, "sql", query, page="rejects"))
    return items


def _files(tables: Tables) -> list[dict]:
    faults = ", ".join(f"'{fault}'" for fault in FILES)
    items = []
    for log in LOGS.values():
        kind = {
            "ask": ["why"],
            "more": f"more fault{{|s}} of files of the {log.title} log",
            "page": "rejects",
            "query": f"select source_file, reason, detail from {log.rejects} where reason in ({faults}) order by all",
        }
        sql = _SQL["files"].replace("from rejects", f"from {log.rejects}")
        items += _first(tables, sql, kind, faults=[*FILES], meanings=[*FILES.values()])
    return [item | {"page": "rejects"} for item in items]
