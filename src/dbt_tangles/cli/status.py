"""`tangles status`: the latest runs and their logs, the results of dbt's tests, counts by verdict, and problems."""

from pathlib import Path

import click

from dbt_tangles.cli import gates, problems, runs, text, verdict_counts, verify
from dbt_tangles.cli.duplicate_tangles import TablesOnce, count_alike
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_answer, with_tables
from dbt_tangles.cli.page import Page
from dbt_tangles.cli.suggest import examples, suggest
from dbt_tangles.cli.tables import Tables


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
    """Collect runs, counts, problems, and the results of tests, which dbt may have written to one of the targets."""
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
    text.write(page, "status", answer)
