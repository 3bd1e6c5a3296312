"""`tangles status`: the latest runs and their logs, the results of dbt's tests, counts by verdict, and problems.

With `--verify` it compares the bytes of every table file with the digests in the table's manifest.
"""

import shlex
from pathlib import Path

import click

from dbt_tangles.cli import gates, problems, runs, text, verdict_counts
from dbt_tangles.cli.duplicate_tangles import TablesOnce, count_alike
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_answer, with_tables
from dbt_tangles.cli.suggest import examples, suggest
from dbt_tangles.cli.tables import CommandError, Tables

_TRIES = 20


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
    callback=gates.parse,
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
        answer = {"tables": str(tables.folder), "verified": verify(tables)}
        print_answer(tables, answer, lambda page: text.write(page, "verify", answer), as_json)
        return NOT_FOUND if answer["verified"]["damaged"] else FOUND
    targets = [Path(target_path)]
    if click.get_current_context().get_parameter_source("target_path") != click.core.ParameterSource.COMMANDLINE:
        targets.append(runs.own_target(tables.folder.parent))
    answer = describe(tables, *targets)
    answer["conditions"] = gates.check(tables, conditions) if conditions else None
    answer["verified"] = verify(tables) if verifies else None
    print_answer(tables, answer, lambda page: text.write(page, "status", answer), as_json)
    # A condition for failed runs replaces the rule that the last run must not have failed.
    is_bad = "failed_run" not in (conditions or ()) and gates.has_failed(answer["runs"])
    is_bad |= any(each["is_failed"] for each in answer["conditions"] or ())
    return NOT_FOUND if is_bad or (verifies and answer["verified"]["damaged"]) else FOUND


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


def verify(tables: Tables) -> dict:
    """Read all bytes of all tables and compare them with the digests in their manifests.

    Returns:
        `tables`, `files` and `bytes`, the numbers of each; `damaged`, for each damaged file its `table`, `file` and
        `fault`; `unknown`, the tables whose manifests have no digests.
    """
    damaged, unknown, files, size = [], [], 0, 0
    folders = tables.folders()
    for folder in folders:
        found, facts = _compare_bytes(folder)
        files, size = files + len(facts), size + sum(max(length, 0) for length, _ in facts.values())
        if found is None:
            unknown.append(folder.name)
        for name, fault in sorted((found or {}).items()):
            damaged.append({"table": folder.name, "file": str(folder / name), "fault": fault})
    return {"tables": len(folders), "files": files, "bytes": size, "damaged": damaged, "unknown": unknown}


def _compare_bytes(folder: Path) -> tuple[dict[str, str] | None, dict[str, list[int]]]:
    # Imported here, because these modules load slowly.
    from dbt_spark_python.table_store import manifest
    from dbt_spark_python.table_store.integrity import find_altered, list_files

    for _ in range(_TRIES):
        noted = manifest.read(folder)
        try:
            files = list_files(folder)
            found = find_altered(folder, noted)
        except FileNotFoundError:
            continue
        if manifest.read(folder) == noted:  # otherwise a build replaced the table meanwhile
            return found, files
    raise CommandError(f"{folder}: a build keeps replacing the table; run the command again after the build")


def rebuild_command(damaged: list[dict]) -> str:
    """Write the command that rebuilds damaged tables, and all tables that depend on them."""
    return shlex.join(["dbt", "build", "--full-refresh", "--select", *sorted({f"{row['table']}+" for row in damaged})])
