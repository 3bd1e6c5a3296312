"""`tangles status`: what is built, from which log, and what to look at."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_tangles.ask import counts, look_at, runs
from dbt_tangles.ask.options import FOUND, as_json, give, of_tables
from dbt_tangles.ask.page import BAD, DIM, GOOD, ID, STRONG, Page
from dbt_tangles.ask.tables import Tables

_WORSE = {"error", "interrupted", "fail"}


@click.command("status")
@click.option(
    "--target-path",
    envvar="DBT_TARGET_PATH",
    default="target",
    show_default="DBT_TARGET_PATH, else target",
    metavar="DIR",
    help="Where dbt leaves the results of its tests.",
)
@as_json
@of_tables
def command(target_path: str, as_json: bool, warehouse: str, schema: str) -> int:
    """Say what is built, from which logs and when; count it by verdict; and say what to look at."""
    tables = Tables(warehouse, schema)
    last = runs.last_runs(tables)
    tests = runs.results_of_tests(Path(target_path))
    answer = {
        "tables": str(tables.folder),
        "runs": last,
        "tests": tests and {**tests, "is_of_these_tables": any(tests["run_id"] == run["run_id"] for run in last)},
        "counts": counts.count(tables),
        "look_at": look_at.find(tables, last, tests),
    }
    give(tables, answer, write, as_json)
    return FOUND


def write(page: Page, answer: dict) -> None:
    """Show the answer."""
    page.line((answer["tables"], STRONG))
    for run in answer["runs"]:
        if run["tables"] or run is answer["runs"][0]:
            _write_run(page, run)
    _write_tests(page, answer["tests"])
    for row in answer["counts"]:
        parts = ", ".join(f"{verdict} {n:,}" for verdict, n in row["counts"].items())
        page.line(f"{row['total']:>11,} {row['what']}", *([f": {parts}"] if parts else []))
    if answer["look_at"]:
        page.line(("to look at:", STRONG))
    for item in answer["look_at"]:
        page.line(item["words"], indent=1)
        if item["ask"]:
            page.line((item["ask"], ID), indent=2)


def _write_run(page: Page, run: dict) -> None:
    took = f", took {run['seconds']:,} s" if run["seconds"] is not None else ""
    style = GOOD if run["status"] == "success" else BAD if run["status"] in _WORSE else ""
    page.line(f"run of {run['started_at']} UTC: ", (run["status"], style), f"{took}; {run['tables']} tables are of it")
    if not run["inputs"]:
        page.line(("over the fixtures", DIM), indent=1)
    for log in run["inputs"]:
        sizes = [f"{log[what]:,} {what}" for what in ("files", "bytes", "lines") if log[what] is not None]
        page.line(f"{log['var']} {log['path']}", f": {', '.join(sizes)}" if sizes else "", indent=1)


def _write_tests(page: Page, tests: dict | None) -> None:
    if tests is None:
        page.line(("no results of tests (--target-path)", DIM))
        return
    parts = ", ".join(f"{status} {n:,}" for status, n in sorted(tests["counts"].items())) or "none ran"
    of = "" if tests["is_of_these_tables"] else "; of another run than these tables"
    page.line(f"tests of {tests['at'][:19]}: ", (parts, BAD if tests["failed"] else GOOD), of)
    for test in tests["failed"]:
        failures = f", {test['failures']} rows" if test["failures"] is not None else ""
        page.line((test["status"], BAD), f" {test['name']}{failures}", indent=1)
