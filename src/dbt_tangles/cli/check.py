"""`tangles check`: compares a peer's statements with the tables, or the tables' edit scripts with their orders."""

import re
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

import click

from dbt_tangles.cli import text
from dbt_tangles.cli.options import (
    FOUND,
    NOT_FOUND,
    USAGE,
    as_json,
    name_of,
    print_answer,
    print_json_answer,
    with_tables,
)
from dbt_tangles.cli.page import Page, quantity, truncate
from dbt_tangles.cli.peer_answers import AGREE, DIFFER, KINDS, UNKNOWN, UNREADABLE, check, explain, only_in_one
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables

_SAMPLES = {"true or false": "true", "a number": "N", "a string": '"ID"', "a list of strings": '["ID", …]'}
_KEPT = 10_000
_EXPLAINED = 200
_URI = re.compile(r"[a-z][a-z0-9+.-]*:/")


def _explain_lines() -> str:
    """Describe each kind of line, and add the examples, for the help."""
    said = [
        "Each line is a JSON object of one of the kinds below. The subject comes first; at least one of the other keys "
        "must be present. Further keys are ignored. An ID may also be a URI."
    ]
    for kind in KINDS.values():
        pairs = [f'"{key}": "{"NAME" if key in ("tangle", "tangle_name") else "ID"}"' for key in kind.keys]
        pairs += [f'"{key}": {_SAMPLES[type_]}' for key, type_ in kind.says.items()]
        said.append(f"\b\n{{{', '.join(pairs)}}}\n    {kind.means}")
    return "\n\n".join([*said, examples("check", "check statements.jsonl --log log.jsonl")])


@click.command("check", epilog=_explain_lines())
@click.argument(
    "answers",
    type=click.File(encoding="utf-8", errors="backslashreplace"),
    required=False,
    metavar="[PEER_ANSWERS.jsonl]",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="LOG",
    help="Build the tables of this log first, in a temporary warehouse, as `tangles build` does; may be repeated.",
)
@as_json
@with_tables
def command(answers: TextIO | None, logs: tuple[str, ...], as_json: bool, warehouse: str, schema: str) -> int:
    """Compare the statements of a peer about its log with the tables. `-` reads from the standard input.

    Without a file, check the tables themselves: the scripts of timeline_edits must lead to the orders of
    timeline_events, and timeline_updates back from them. The warehouse may then also be a URI.

    Exit code 0: all agree; 1: a line or a timeline differs, or the subject of a line is not in the tables; 2: a line or
    a table cannot be read.
    """
    with tempfile.TemporaryDirectory() if logs else nullcontext(warehouse) as place:
        if logs:
            from dbt_tangles.cli.build import build_tables

            build_tables(logs, place, schema)
        if answers:
            return _check_statements(Tables(place, schema), answers, as_json)
        return _check_edits(place, schema, as_json)


def _check_edits(warehouse: str, schema: str, as_json: bool) -> int:
    """Print whether the edit scripts lead to the published orders, and back from them; return the exit code."""
    # Imported here, because statements do not need them.
    from dbt_tangles.algorithms.timeline.verify_edits import TableError, replay
    from dbt_tangles.cli.missing_tables import describe_missing_tables
    from dbt_tangles.cli.page import progress_bar

    folder = f"{warehouse.rstrip('/')}/{schema}.db"
    if not _URI.match(folder) and not Path(folder).is_dir():
        raise CommandError(describe_missing_tables(Path(warehouse), schema))
    with progress_bar("reading the edit scripts") as tell:
        try:
            report = replay(folder, lambda done, total: tell("replaying the edit scripts", done, total))
        except TableError as error:
            raise CommandError(str(error)) from error
    answer = {**report._asdict(), "agree": report.agree}
    if as_json:
        print_json_answer({"edits": answer})
    else:
        text.write(Page(), "check_edits", answer)
    return NOT_FOUND if report.differ else FOUND


def _check_statements(tables: Tables, answers: TextIO, as_json: bool) -> int:
    counts: Counter[str] = Counter()
    kept = []
    for each in check(tables, answers):
        counts[each["verdict"]] += 1
        if each["verdict"] != AGREE and len(kept) < _KEPT:
            kept.append(each)
    if not counts:
        raise CommandError(
            f"{name_of(answers)}: has no statement; give one JSON object a line (--help lists their kinds)"
        )
    differing = [each for each in kept if each["verdict"] == DIFFER]
    for n, each in enumerate(differing):
        key = each.pop("key")
        each["because"] = explain(tables, each["kind"], key, each["differ"]) if n < _EXPLAINED else None
    verdicts = {verdict: counts[verdict] for verdict in (AGREE, DIFFER, UNKNOWN, UNREADABLE)}
    answer = {"counts": verdicts, "lines": kept}
    print_answer(tables, answer, lambda page: text.write(page, "check", answer, difference=_difference), as_json)
    if counts[UNREADABLE]:
        return USAGE
    return NOT_FOUND if counts[DIFFER] or counts[UNKNOWN] else FOUND


def _difference(name: str, peer: Any, ours: Any) -> str:
    """Describe how two values differ; of two lists, their unshared entries, or the first place where they differ."""
    if not isinstance(peer, list):
        return f"{name}: the peer says {peer}, the tables say {ours}"
    ours = ours or []
    only_peer, only_ours = only_in_one(peer, ours)
    if not only_peer and not only_ours:
        place = next((place for place, (a, b) in enumerate(zip(peer, ours, strict=False)) if a != b), None)
        if place is None:
            return f"{name}: the peer has {quantity(len(peer), 'entr{y|ies}')}, the tables have {len(ours):,}"
        return f"{name}: at place {place} the peer has {peer[place]}, the tables have {ours[place]}"
    parts = []
    for side, ids in (("the peer has", only_peer), ("the tables have", only_ours)):
        if ids:
            more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
            parts.append(f"only {side} {', '.join(map(truncate, ids[:3]))}{more}")
    return f"{name}: {'; '.join(parts)}"
