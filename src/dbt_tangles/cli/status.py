"""`tangles status`: the latest runs and their logs, the results of dbt's tests, counts by verdict, and problems."""

from pathlib import Path

import click

from dbt_tangles.cli import gates, problems, runs, verdict_counts, verify
from dbt_tangles.cli.duplicate_tangles import TablesOnce, count_alike, describe_alike
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_answer, with_tables
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page, quantity
from dbt_tangles.cli.suggest import examples, suggest
from dbt_tangles.cli.tables import Tables

_WORSE = {"error", "interrupted", "fail"}
_SIZES = ("file", "byte", "line")
_MOST_BROKEN = 5


@click.command("status", epilog=examples("status", "status --fail-on rejects=3,forks"))
@click.option(
    "--target-path",
    envvar="DBT_TARGET_PATH",
    default="target",
    show_default="DBT_TARGET_PATH, else target; also the folder of tangles build",
    metavar="DIR",
    help="The folder to which dbt writes its results.",
)
@click.option(
    "--verify",
    "verifies",
    is_flag=True,
    help="Read all bytes of the tables and list the files that differ from the published ones; with --fail-on in "
    "addition, else instead.",
)
@click.option(
    "--fail-on",
    "conditions",
    type=gates.Gates(),
    metavar="NAME[=N],...",
    help=f"Exit code 1 if a number exceeds N (0): {', '.join(gates.CONDITIONS)}.",
)
@as_json
@with_tables
def command(
    target_path: str, verifies: bool, conditions: dict[str, int] | None, as_json: bool, warehouse: str, schema: str
) -> int:
    """Show the latest runs and their logs, the rows of each table by verdict, and problems to look at.

    Exit code 1: the last run failed, a condition of --fail-on is not met, or --verify finds a damaged file.
    """
    tables = Tables(warehouse, schema)
    if verifies and not conditions:
        found = verify.verify(tables)
        print_answer(tables, {"tables": str(tables.folder), "verified": found}, verify.write, as_json)
        return NOT_FOUND if found["damaged"] else FOUND
    targets = [Path(target_path)]
    if click.get_current_context().get_parameter_source("target_path") != click.core.ParameterSource.COMMANDLINE:
        targets.append(runs.own_target(tables.folder.parent))
    answer = describe(tables, *targets)
    answer["conditions"] = gates.check(tables, conditions) if conditions else None
    answer["verified"] = verify.verify(tables) if verifies else None
    print_answer(tables, answer, write, as_json)
    return NOT_FOUND if _is_bad(answer) else FOUND


def describe(tables: Tables, *targets: Path) -> dict:
    """Collect the answer: runs, tests, counts and problems.

    Args:
        tables: The tables.
        targets: The folders to which dbt may have written the results of the tests.
    """
    last = runs.last_runs(tables)
    results = runs.latest_results(targets, last)
    once = TablesOnce(tables)
    return {
        "tables": str(tables.folder),
        "runs": [{name: value for name, value in run.items() if name != "current_tables"} for run in last],
        "tests": results and {**results, "is_of_these_tables": any(results["run_id"] == run["run_id"] for run in last)},
        "counts": verdict_counts.count(tables, once),
        "alike": count_alike(once),
        "look_at": [
            {"words": each["words"], "ask": each["ask"] and suggest(each["ask"])}
            for each in problems.find(tables, last, results)
        ],
    }


def _is_bad(answer: dict) -> bool:
    conditions, verified = answer["conditions"] or [], answer["verified"] or {"damaged": []}
    is_failed = any(each["is_failed"] for each in conditions)
    # A condition for failed runs replaces the rule that the last run must not have failed.
    is_ruled = any(each["name"] == "failed_run" for each in conditions)
    return is_failed or bool(verified["damaged"]) or (not is_ruled and gates.has_failed(answer["runs"]))


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    page.line((answer["tables"], STRONG))
    for run in answer["runs"]:
        if run["tables"] or run is answer["runs"][0]:
            _write_run(page, run, answer["tests"])
    _write_tests(page, answer["tests"])
    for row in answer["counts"]:
        if row["is_news"]:
            once = row["once"]
            parts = ", ".join(f"{verdict} {n:,}" for verdict, n in once["counts"].items())
            words = verdict_counts.noun_of(row["table"], once["total"])
            page.line(f"{once['total']:>11,} {words}", *([f": {parts}"] if parts else []))
    for row in answer["alike"]:
        page.line((describe_alike(row), DIM))
    if answer["look_at"]:
        page.line(("to look at:", STRONG))
    for item in answer["look_at"]:
        page.line(item["words"], indent=1)
        if item["ask"]:
            page.line((item["ask"], ID), indent=2)
    if answer.get("verified"):
        verify.write_found(page, answer["verified"])
    if answer.get("conditions"):
        gates.write(page, answer["conditions"])


def _write_run(page: Page, run: dict, results: dict | None) -> None:
    took = f", took {run['seconds']:,} s" if run["seconds"] is not None else ""
    style = GOOD if run["status"] == "success" else BAD if run["status"] in _WORSE else ""
    page.line(
        f"run of {run['started_at']} UTC: ",
        (run["status"], style),
        f"{took}; it wrote {quantity(run['tables'], 'of the tables')}",
    )
    if not run["inputs"]:
        page.line(("input: the fixtures", DIM), indent=1)
    for log in run["inputs"]:
        sizes = [quantity(log[f"{what}s"], f"{what}{{|s}}") for what in _SIZES if log[f"{what}s"] is not None]
        page.line(f"{log['var']} {log['path']}", f": {', '.join(sizes)}" if sizes else "", indent=1)
    if results and results["run_id"] == run["run_id"]:
        models = [row for row in results["broken"] if not row["kind"].endswith("test")]
        for row in models[:_MOST_BROKEN]:
            page.line((row["status"], BAD), f" {row['kind']} {row['name']}: {row['message']}", indent=1)
        if len(models) > _MOST_BROKEN:
            page.line((f"… and {len(models) - _MOST_BROKEN:,} more (--json lists them)", DIM), indent=1)
        if results["skipped"]:
            page.line(f"{quantity(results['skipped'], 'step{ was|s were}')} skipped because of that", indent=1)


def _write_tests(page: Page, tests: dict | None) -> None:
    if tests is None:
        page.line(("dbt tests: no results found; --target-path names the folder that dbt writes to", DIM))
        return
    parts = ", ".join(f"{status} {n:,}" for status, n in sorted(tests["counts"].items())) or "none ran"
    of = "" if tests["is_of_these_tables"] else "; they tested another run, not these tables"
    page.line(f"dbt tests of {tests['at'][:19]}: ", (parts, BAD if tests["failed"] else GOOD), of)
    for test in tests["failed"]:
        failures = f", {quantity(test['failures'], 'row{|s}')}" if test["failures"] is not None else ""
        page.line((test["status"], BAD), f" {test['name']}{failures}", indent=1)
