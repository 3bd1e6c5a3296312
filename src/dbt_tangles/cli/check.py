"""`tangles check`: whether a peer says what the tables say."""

from __future__ import annotations

from collections import Counter
from typing import Any, TextIO

import click

from dbt_tangles.cli.options import FOUND, NOT_FOUND, USAGE, as_json, give, of_tables
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, Page, counted, short
from dbt_tangles.cli.peer_answers import AGREE, DIFFER, KINDS, UNKNOWN, UNREADABLE, check, only_in_one
from dbt_tangles.cli.peer_reasons import explain
from dbt_tangles.cli.tables import Tables

_SAMPLES = {bool: "true", int: "N", str: '"ID"', list: '["ID", …]'}
_SHOWN = 20
_KEPT = 10_000
_EXPLAINED = 200


def _explain_lines() -> str:
    """Describe the lines that are compared, for the help."""
    said = [
        "Each line is a JSON object of one of these kinds. Of the keys behind its subject some may be left out, but "
        "not all; keys that are not named here are passed over. An ID may be given as a URI too."
    ]
    for kind in KINDS.values():
        pairs = [f'"{key}": "{"NAME" if key in ("tangle", "tangle_name") else "ID"}"' for key in kind.keys]
        pairs += [f'"{key}": {_SAMPLES[type_]}' for key, type_ in kind.says.items()]
        said.append(f"\b\n{{{', '.join(pairs)}}}\n    {kind.means}")
    return "\n\n".join(said)


@click.command("check", epilog=_explain_lines())
@click.argument("answers", type=click.File(encoding="utf-8", errors="backslashreplace"), metavar="PEER_ANSWERS.jsonl")
@as_json
@of_tables
def command(answers: TextIO, as_json: bool, warehouse: str, schema: str) -> int:
    """Compare what a peer says of its log with the tables. `-` reads from the standard input.

    Exit code 0: all agree; 1: some differ, or are about what the tables have not; 2: a line cannot be read.
    """
    tables = Tables(warehouse, schema)
    counts: Counter[str] = Counter()
    kept = []
    for each in check(tables, answers):
        counts[each["verdict"]] += 1
        if each["verdict"] != AGREE and len(kept) < _KEPT:
            kept.append(each)
    differing = [each for each in kept if each["verdict"] == DIFFER]
    for n, each in enumerate(differing):
        key = each.pop("key")
        each["because"] = explain(tables, each["kind"], key, each["differ"]) if n < _EXPLAINED else None
    verdicts = {verdict: counts[verdict] for verdict in (AGREE, DIFFER, UNKNOWN, UNREADABLE)}
    give(tables, {"counts": verdicts, "lines": kept}, _write, as_json)
    if counts[UNREADABLE]:
        return USAGE
    return NOT_FOUND if counts[DIFFER] or counts[UNKNOWN] else FOUND


def _write(page: Page, answer: dict) -> None:
    for each in answer["lines"][:_SHOWN]:
        about = [(f" {each['about']}", ID)] if each["about"] else []
        if each["verdict"] == UNREADABLE:
            page.line(f"line {each['line']}: ", ("cannot be read", BAD), f": {each['detail']}")
        elif each["verdict"] == UNKNOWN:
            page.line(f"line {each['line']}:", *about, ": the tables have nothing of that name")
        else:
            page.line(f"line {each['line']}:", *about, ": ", ("differs", BAD))
            for name, said in each["differ"].items():
                page.line(_difference(name, said["peer"], said["tables"]), indent=1)
            for text in each["because"] or []:
                page.line((text, DIM), indent=2)
    rest = sum(answer["counts"].values()) - answer["counts"][AGREE] - _SHOWN
    if rest > 0:
        page.line((f"… and {rest:,} more (--json has them)", DIM))
    style = GOOD if not answer["lines"] else BAD
    page.line((", ".join(f"{n:,} {verdict}" for verdict, n in answer["counts"].items()), style))


def _difference(name: str, peer: Any, ours: Any) -> str:
    """Say how two answers differ; of lists, what only one has, or else where their orders part."""
    if not isinstance(peer, list):
        return f"{name}: the peer says {peer}, the tables {ours}"
    ours = ours or []
    only_peer, only_ours = only_in_one(peer, ours)
    if not only_peer and not only_ours:
        place = next((place for place, (a, b) in enumerate(zip(peer, ours, strict=False)) if a != b), None)
        if place is None:
            return f"{name}: the peer has {counted(len(peer), 'entr{y|ies}')}, the tables {len(ours):,}"
        return f"{name}: at place {place} the peer has {peer[place]}, the tables {ours[place]}"
    parts = []
    for who, ids in (("the peer has", only_peer), ("the tables have", only_ours)):
        if ids:
            more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
            parts.append(f"only {who} {', '.join(map(short, ids[:3]))}{more}")
    return f"{name}: {'; '.join(parts)}"
