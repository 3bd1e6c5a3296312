"""`tangles build`: builds the tables of logs with the packaged dbt project, and ends with the answer of `status`."""

import os
from pathlib import Path
from typing import Any

import click

from dbt_tangles.cli import build_run, gates, init, status, text
from dbt_tangles.cli.log_arguments import LOG_VARS, group_logs, of_kind, with_standard_input
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_answer, with_tables
from dbt_tangles.cli.page import escape_line, join_names
from dbt_tangles.cli.runs import OWN_FOLDER, own_target
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables

#: Exit code after SIGINT, as in shells.
INTERRUPTED = 130
#: Characters with a meaning in the globs of Spark.
_GLOB = set("{}[]*?,\\")


@click.command("build", epilog=examples("build --example", "build log.jsonl --warehouse tables"))
@click.argument("logs", nargs=-1, metavar="[LOG...]")
@click.option("--example", is_flag=True, help="Build an example log: 300 lines of SSB with some damage.")
@click.option("--engine", type=click.Choice([*init.ENGINES]), help="Default: Sail if it is installed, else Spark.")
@of_kind
@click.option("--var", "given", multiple=True, metavar="NAME=VALUE", help="A var of the project; may be repeated.")
@click.option("--tests/--no-tests", default=True, help="Run the data tests of the tables.")
@click.option("--full-refresh", is_flag=True, help="Build every table in full.")
@as_json
@with_tables
def command(
    logs: tuple[str, ...],
    engine: str | None,
    kind: str | None,
    given: tuple[str, ...],
    warehouse: str,
    schema: str,
    as_json: bool,
    **options: bool,
) -> int:
    """Build the tables of logs: verify every line, compute every table, run the tests, and print the status.

    LOG is a file, a folder or a glob, or - for the standard input. The project is the one that is installed with this
    command. Exit code 0: all steps succeeded; 1: a step failed; 2: wrong use; 130: interrupted.
    """
    if bool(logs) == options.pop("example"):
        raise click.UsageError("give logs, or --example without a log")
    logs = logs or (str(init.project_folder() / init.EXAMPLE),)
    place = Path(warehouse).absolute()
    try:
        outcome = _run(logs, place, schema, engine, kind, given, **options)
    except KeyboardInterrupt:
        click.echo(f"tangles: {place}: interrupted; run the command again to build the remaining tables", err=True)
        return INTERRUPTED
    tables = Tables(place, schema)
    answer = status.describe(tables, own_target(place))
    answer |= {"error": outcome.error, "is_success": outcome.is_success}
    if outcome.error and not as_json:
        click.echo(escape_line(f"tangles: {outcome.error}"), err=True)
    shown = {**answer, "conditions": None, "verified": None}
    print_answer(tables, answer, lambda page: text.write(page, "status", shown), as_json)
    return FOUND if outcome.is_success and not gates.has_failed(answer["runs"]) else NOT_FOUND


def build_tables(logs: tuple[str, ...], warehouse: str, schema: str) -> None:
    """Build the tables of logs with the default engine, without tests."""
    outcome = _run(logs, Path(warehouse).absolute(), schema, tests=False, full_refresh=False)
    if not outcome.is_success:
        raise CommandError(outcome.error or f"{', '.join(logs)}: a step of the build failed; see its message above")


def _run(
    logs: tuple[str, ...],
    place: Path,
    schema: str,
    engine: str | None = None,
    kind: str | None = None,
    given: tuple[str, ...] = (),
    **options: bool,
) -> build_run.Outcome:
    """Run the build of logs with the given vars, and check that it made tables."""
    settings, is_pretty = read_vars(given), any("ssb_log_format=pretty" in each for each in given)
    own = place / OWN_FOLDER
    with with_standard_input(logs, own) as paths:
        variables = {**settings, **log_vars(paths, kind, is_pretty)}
        target = target_of(engine)
        os.environ |= {"TANGLES_WAREHOUSE": str(place), "TANGLES_SCHEMA": schema}
        outcome = build_run.run(variables, target, own, **options)
    if not outcome.is_begun or not (place / f"{schema}.db").is_dir():
        raise CommandError(
            outcome.error or f"{place}: the build made no table; {own / 'logs' / 'dbt.log'} has the cause"
        )
    return outcome


def read_vars(given: tuple[str, ...]) -> dict[str, Any]:
    """Parse `NAME=VALUE` settings; values are YAML, as in dbt."""
    import yaml

    known = yaml.safe_load((init.project_folder() / "dbt_project.yml").read_text())["vars"].keys() - LOG_VARS.values()
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if name not in known:
            names = join_names(sorted(known))
            raise CommandError(f"--var {each}: {name!r} is not a var; give NAME=VALUE with one of {names}")
        if not equals:
            raise CommandError(f"--var {each}: the value is missing; give {name}=VALUE")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise CommandError(f"--var {each}: the value is not YAML: {error}") from error
    return found


def log_vars(logs: tuple[str, ...], kind: str | None, is_pretty: bool) -> dict[str, str]:
    """Return the var of each kind of log with its path: a single path as given, or a glob of all files."""
    files, groups = group_logs(logs, kind, is_pretty)
    found = {}
    for each, members in groups.items():
        whole = [log for log in files if {*files[log]} == {*members}]
        if whole:
            found[LOG_VARS[each]] = whole[0] if whole[0].startswith("file:/") else os.path.abspath(whole[0])
        else:
            found[LOG_VARS[each]] = _glob_of([file.path for file in members])
    return found


def _glob_of(paths: list[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    if hostile := [path for path in paths if _GLOB & {*path}]:
        raise CommandError(
            f"{hostile[0]}: several logs of a kind form a glob, and this name has one of {{}}[]*?,\\; "
            "put the logs of a kind into a folder and name the folder"
        )
    return "{" + ",".join(paths) + "}"


def target_of(engine: str | None) -> str:
    """Return the target of an engine; without one TANGLES_TARGET, or else that of the first installed engine."""
    if engine is None:
        target = os.environ.get("TANGLES_TARGET") or init.installed_target()
    else:
        name, package = init.ENGINES[engine]
        target = name if init.is_installed(package) else None
    if target is None:
        missing = f"the engine {engine} is not installed" if engine else "no engine is installed"
        raise CommandError(f"{missing}: pip install 'dbt-tangles[{engine or 'sail'}]'")
    return target
