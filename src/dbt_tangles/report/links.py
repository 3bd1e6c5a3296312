"""The places in a report that problems and ids lead to, and the answers of `tangles why` for ids that are not drawn."""

from __future__ import annotations

import shlex
from collections import defaultdict

from dbt_tangles.cli.subjects import KINDS
from dbt_tangles.cli.tables import CommandError, Tables
from dbt_tangles.report.file_names import FileNames, file_name
from dbt_tangles.report.parts import Kind
from dbt_tangles.report.why_answers import answer_any


def add_links(problems: list[dict], files: FileNames) -> list[dict]:
    """Give each problem its place in the report: `to`, a view and its parts. Its texts name files without folders."""
    return [{**problem, "words": files.shorten(problem["words"]), **_link(problem["ask"])} for problem in problems]


def _link(ask: str | None) -> dict:
    if ask is None:  # A problem of runs or tests.
        return {"to": ["glance", "runs"]}
    words = shlex.split(ask)
    if "--line" in words:
        file, _, line = words[-1].rpartition(":")
        place = f"{file_name(file)}:{line}"
        return {"to": ["rejects", place], "ask": shlex.join([*words[:-1], place])}
    if words[1] == "show" and words[-1] in KINDS:
        return {"to": [words[-1], words[2]]}
    return {"to": ["message", words[2]]}


def places_of(kinds: dict[str, Kind]) -> dict[str, list[list]]:
    """Return for each id that is drawn its drawings: the kind, and the number among the drawn subjects."""
    places: dict[str, list[list]] = defaultdict(list)
    for name, kind in kinds.items():
        for number, part in enumerate(kind.parts):
            for node in part.view["nodes"]:
                places[node["id"]].append([name, number])
    return places


def answers_of(tables: Tables, problems: list[dict], files: FileNames) -> dict[str, list[list]]:
    """Answer `tangles why` for the ids that problems name."""
    ids = [problem["to"][1] for problem in problems if problem["to"][0] == "message"]
    answers = {}
    for id_ in dict.fromkeys(ids):
        try:
            answers[id_] = files.shorten_lines(answer_any(tables, id_))
        except CommandError:  # A table is missing or replaced; the page shows the command.
            continue
    return answers
