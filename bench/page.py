"""Lay out all figures as plain tables; the site adds them to docs/benchmarks, and `python -m bench.page` prints them.

They depend only on the files in docs/benchmarks/figures, and on `page.yml`, which declares the tables. A part without a
file, or measured below the full size, is listed as not measured.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from bench import report
from bench.turns import ratio

ENGINES = {"spark": "Spark", "sail": "Sail"}
VERDICTS = {True: "met", False: "**missed**", None: "not judged"}
#: Parts without an engine.
NO_ENGINE = ("graphs", "timelines", "sets", "autobase", "ask", "evaluation")
PARTS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("page.yml").read_text())


class Report(NamedTuple):
    """The figures of a part on an engine; without figures, `content` is empty and `state` says why."""

    part: str
    engine: str
    content: dict[str, Any]
    state: str

    @property
    def name(self) -> str:
        """The name on the page."""
        return self.part if self.part in NO_ENGINE else f"{self.part} on {ENGINES[self.engine]}"


def read(folder: Path) -> list[Report]:
    """Read the files of all parts in a folder."""
    pairs = [(part, engine) for part in PARTS for engine in (ENGINES if part not in NO_ENGINE else ("spark",))]
    return [_read_part(part, engine, folder) for part, engine in pairs]


def _read_part(part: str, engine: str, folder: Path) -> Report:
    path = report.path_of(part, engine, folder)
    content = json.loads(path.read_text()) if path.exists() else {}
    failure = report.path_of(part, engine, folder, failed=True)
    if not failure.exists():
        return Report(part, engine, content, "" if content else "not measured")
    told = json.loads(failure.read_text())
    return Report(part, engine, content, f"failed {told['date']}, commit {told['revision']}: {plain(told['error'])}")


def plain(value: Any) -> str:
    """Write a value in a cell: numbers with their significant digits; texts without a meaning in Markdown."""
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return re.sub(r"([\\`*\[\]|<>~])", r"\\\1", " ".join(value.split()))[:160]
    if value == round(value) or abs(value) >= 1_000:
        return f"{round(value):,}"
    return f"{value:.{2 if abs(value) >= 1 else 5}f}".rstrip("0").rstrip(".")


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lay out a table; its lines."""
    return ["| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *rows)]


def runs(reports: Sequence[Report]) -> list[str]:
    """Lay out when, at which commit and on which machine each part was measured, and how many goals it meets."""
    rows = []
    for each in reports:
        cells = [each.state or each.content["date"][:10], "", "", "", ""]
        if each.content:
            machine, goals = each.content["machine"], [goal["met"] for goal in each.content["goals"]]
            about = f"{machine['processor']}, {machine['cores']} cores, load {machine['load_average'][0]:g}"
            judged = [met for met in goals if met is not None]
            cells[1:] = [f"`{machine['revision']}`", plain(about), machine["versions"]["pyspark"]]
            cells.append(f"{sum(judged)} of {len(judged)}")
        rows.append([each.name, *cells])
    return markdown(["part", "measured", "commit", "machine", "pyspark", "goals met"], rows)


def goals_of(reports: Sequence[Report]) -> list[str]:
    """Lay out the goals of a part, those of both engines side by side."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in reports:
        for goal in each.content.get("goals", []):
            told = f"{plain(goal['measured'])}, {VERDICTS[goal['met']]}"
            found.setdefault((plain(goal["what"]), plain(goal["goal"])), {})[each.engine] = told
    heads = [ENGINES[each.engine] for each in reports] if len(reports) > 1 else ["measured"]
    rows = [[*about, *(told.get(each.engine, "") for each in reports)] for about, told in found.items()]
    return [*markdown(["figure", "goal", *heads], rows), ""] if rows else []


def figures_of(about: dict[str, Any], reports: Sequence[Report]) -> pd.DataFrame:
    """Return a table of a part under the titles of its columns, the rows of both engines below each other."""
    columns = {"engine": "engine", **about["columns"]}
    rows = pd.concat(
        pd.json_normalize(each.content.get("results", [])).assign(engine=ENGINES[each.engine]) for each in reports
    )
    if piece := about.get("limit"):
        of_piece = {f"{piece}.cpu_s": "CPU s", f"{piece}.wall_s": "clock, s", "limit.cpu_s": "LIMIT, CPU s"}
        columns |= {"kernel_alone_cpu_s": "kernel alone, CPU s", **of_piece, "/ LIMIT": "/ LIMIT"}
        rows = rows.reindex(columns=rows.columns.union([*of_piece], sort=False)).dropna(subset=list(of_piece))
        rows["/ LIMIT"] = [ratio(*pair) for pair in zip(rows[f"{piece}.cpu_s"], rows["limit.cpu_s"], strict=True)]
    for column, value in about.get("where", {}).items():
        rows = rows[rows[column] == value] if column in rows else rows.head(0)
    needed = [about["needs"]] if "needs" in about else []
    shown = rows.reindex(columns=[*dict.fromkeys([*columns, *needed])]).dropna(subset=needed)[list(columns)]
    shown = shown if reports[0].part not in NO_ENGINE else shown.drop(columns="engine")
    return shown.dropna(axis="columns", how="all").rename(columns=columns)


def section(part: str, reports: Sequence[Report]) -> list[str]:
    """Lay out a part."""
    lines = [f"### {part}", "", PARTS[part]["text"], "", *goals_of(reports)]
    for title, about in PARTS[part].get("tables", {}).items():
        shown = figures_of(about, reports)
        if len(shown):
            rows = [[plain(value) for value in row] for row in shown.itertuples(index=False)]
            lines += [f"{title}:", "", *markdown([*map(plain, shown)], rows), ""]
    return lines


def text(results: Path = report.FIGURES) -> str:
    """Lay out the figures of a folder."""
    reports = read(results)
    lines = ["## All figures", "", *runs(reports), ""]
    for part in PARTS:
        lines += section(part, [each for each in reports if each.part == part])
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(text())
