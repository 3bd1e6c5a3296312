"""`tangles lint`: judges lines, signatures, feeds and claims of logs, without dbt and without an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from dbt_tangles.cli.log_arguments import group_logs, in_blocks, of_kind, with_standard_input
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, limit_option, print_json_answer
from dbt_tangles.cli.page import print_json, progress_bar, quantity, truncate
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError

if TYPE_CHECKING:
    from dbt_tangles.lint.findings import Judged

TEXT, SARIF, GITHUB = "text", "sarif", "github"
#: The most characters of the detail of a finding.
MOST_DETAIL = 300


@click.command("lint", epilog=examples("lint log.jsonl", "lint logs --ignore after_gap --format sarif"))
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@of_kind
@in_blocks
@click.option("--ignore", multiple=True, metavar="REASON", help="Leave findings with this reason out; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice((TEXT, SARIF, GITHUB)),
    default=TEXT,
    help="Lines FILE:LINE: reason: detail; a SARIF log; or annotations of GitHub Actions.",
)
@limit_option(10_000, "the first N findings")
@as_json
def command(
    logs: tuple[str, ...], kind: str | None, pretty: bool, ignore: tuple[str, ...], form: str, limit: int, as_json: bool
) -> int:
    """Judge the lines, signatures, feeds and claims of logs, without building tables.

    LOG is a file, a folder or a glob, or - for the standard input; compressed files are unpacked. Exit code 0:
    clean; 1: findings; 2: wrong use.
    """
    with TemporaryDirectory() as folder, with_standard_input(logs, Path(folder)) as places:
        judged = _judge(places, kind, pretty)
    counts: Counter[str] = Counter()
    findings = _counted(chain.from_iterable(each.findings for each in judged), ignore, counts)
    shown = islice(findings, limit)
    if as_json:
        rows = [
            finding._asdict() | {"detail": finding.detail and truncate(finding.detail, MOST_DETAIL)}
            for finding in shown
        ]
    else:
        _write(shown, form)
    for _ in findings:  # counts the rest
        pass
    total = counts.total()
    if as_json:
        logs_read = [{"kind": each.kind, "files": each.files, "lines": each.lines} for each in judged]
        print_json_answer({"logs": logs_read, "total": total, "counts": dict(counts.most_common()), "findings": rows})
    else:
        _write_summary(sum(each.lines for each in judged), total, limit)
    return NOT_FOUND if total else FOUND


def _judge(logs: tuple[str, ...], kind: str | None, is_pretty: bool) -> list[Judged]:
    # Imported here, because the verifiers need more modules than the other commands.
    from dbt_tangles.lint.findings import judge, reading_of

    _, groups = group_logs(logs, kind, is_pretty)
    try:
        with progress_bar("reading lines") as tell:
            return [judge(each, group, reading_of(each, is_pretty), tell) for each, group in groups.items()]
    except ValueError as error:
        raise CommandError(str(error)) from error


def _counted(findings: Iterator, ignored: Sequence[str], counts: Counter[str]) -> Iterator:
    for finding in findings:
        if finding.reason not in ignored:
            counts[finding.reason] += 1
            yield finding


def _write(findings: Iterator, form: str) -> None:
    from dbt_tangles.lint import forms

    if form == SARIF:
        from dbt_tangles.cli.init import version

        print_json(forms.as_sarif(findings, version()))
        return
    write = forms.as_text if form == TEXT else forms.as_github
    with suppress(BrokenPipeError):
        for finding in findings:
            click.echo(write(finding))


def _write_summary(lines: int, total: int, limit: int) -> None:
    """Write the number of lines and findings to the standard error, so that the output has findings only."""
    more = f"; the first {limit:,} are shown (--limit)" if total > limit else ""
    words = quantity(total, "finding{|s}") if total else "no finding"
    click.echo(f"{quantity(lines, 'line{|s}')}: {words}{more}", err=True)
