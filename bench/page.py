"""Write docs/benchmarks, one page with all figures of the benchmarks: `python -m bench.page`.

The page depends only on the files of figures beside it, and on `page.yml`, which declares its tables. A part without a
file, or measured below the full size, is listed as not measured. Texts of the files are escaped.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from bench import page_plots, report
from bench.machine import ROOT
from bench.page_text import code, markdown, minutes, plain
from bench.turns import ratio

DOCS = ROOT / "docs" / "benchmarks"
SMALL = report.RESULTS / "page"  # for runs below the full size
ENGINES = {"spark": "Spark", "sail": "Sail"}
#: The keys that a file of figures must have, and the types of their values.
KEYS = {"results": list, "goals": list, "machine": dict, "date": str}
VERDICTS = {True: "met", False: "**missed**", None: "not judged"}
#: Parts that run on one engine or on none; on Sail, `graphs` would leave the files of dropped tables.
ONE_ENGINE = ("graphs", "tables", "ask", "others", "skew", "evaluation", "arrivals", "streams", "histories")
PARTS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("page.yml").read_text())
FACTS = {"processor": "processor", "cores": "cores", "memory_gib": "memory, GiB", "system": "system"}
HEAD = """# All figures of the benchmarks

`python -m bench.page` writes this page from the files in [figures](figures), and so does every `make bench`; it is not
edited by hand. The [benchmarks](../../bench/README.md) explain what each part measures.

**LIMIT** is the same in all parts: read the columns that the model needs, shuffle them by graph, write the rows that
the model writes. Seconds are CPU seconds of all processes, as medians of the rounds. Seconds on the clock are context
only, because the machine may have had other work; its load is in the table. Between machines or days, compare ratios
and not seconds. The column `engine` names the run, also for kernels that use no engine.
`make bench BENCH_ARGS="<part> --engines spark sail"` measures a part that is listed as not measured.
"""


@dataclass
class Report:
    """A file of figures.

    Attributes:
        part: The benchmark.
        engine: The engine that ran it.
        content: The content of the file; empty without a usable file.
        states: The reasons why figures are missing or old; empty for a part that was measured without failure since.
    """

    part: str
    engine: str
    content: dict[str, Any] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name on the page."""
        return self.part if self.part in ONE_ENGINE else f"{self.part} on {ENGINES[self.engine]}"

    def __post_init__(self) -> None:
        """Flatten the figures."""
        self.rows = pd.json_normalize(self.content.get("results", [])).assign(engine=ENGINES[self.engine])


def read(folder: Path, is_full: bool = True) -> list[Report]:
    """Read the files of all parts in a folder; with `is_full`, without those below the full size."""
    pairs = [(part, engine) for part in PARTS for engine in (ENGINES if part not in ONE_ENGINE else ("spark",))]
    return [_read_part(part, engine, folder, is_full) for part, engine in pairs]


def _read_part(part: str, engine: str, folder: Path, is_full: bool) -> Report:
    path = report.path_of(part, engine, folder)
    content, problem = _json(path)
    if content and not _is_report(content):
        content, problem = {}, f" ({path.name} is no report)"
    if is_full and content.get("scale", 1) != 1:
        problem = f" ({minutes(content['date'])} at {plain(content['scale'])} of the full size only)"
        content = {}
    states = [] if content else [f"not measured{problem}"]
    failure, _ = _json(report.path_of(part, engine, folder, failed=True))
    if failure:
        older = "; the figures shown are older" if content else ""
        commit = code(failure["revision"])
        states.append(f"failed {minutes(failure['date'])}, commit {commit}: {plain(failure['error'])}{older}")
    return Report(part, engine, content, states)


def _json(path: Path) -> tuple[dict[str, Any], str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RecursionError) as error:
        return {}, f" ({path.name} cannot be read ({type(error).__name__}))"
    return (content, "") if isinstance(content, dict) else ({}, f" ({path.name} is no report)")


def _is_report(content: dict[str, Any]) -> bool:
    """Whether the content of a file has the keys of a report, and its results and goals are objects."""
    if not all(isinstance(content.get(key), kind) for key, kind in KEYS.items()):
        return False
    if not {*FACTS, "revision", "versions"} <= content["machine"].keys():
        return False
    return all(isinstance(each, dict) for each in content["results"]) and all(map(_is_goal, content["goals"]))


def _is_goal(goal: Any) -> bool:
    if not (isinstance(goal, dict) and {"what", "goal", "measured", "met"} <= goal.keys()):
        return False
    return goal["met"] in (*VERDICTS,)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lay out a table, and an empty line."""
    return [*markdown(head, rows), ""]


def runs(reports: Sequence[Report]) -> list[str]:
    """Lay out when, at which commit and under which load each part was measured, and how many goals it meets."""
    rows = []
    for each in reports:
        content, cells = each.content, []
        if content:
            machine, met = content["machine"], [goal["met"] for goal in content["goals"] if goal["met"] is not None]
            loads = [content.get("load_at_start"), machine.get("load_average")]
            cells = [code(machine["revision"]), plain(content.get("scale")), plain(content.get("repeats"))]
            cells.append(" to ".join(plain(load[0]) if load else "?" for load in loads))
            cells.append(f"{sum(met)} of {len(met)}" if met else "none")
        date = [minutes(content["date"])] if content else []
        rows.append([each.name, "; ".join(date + each.states), *cells])
    return table(["part", "measured, UTC", "commit", "scale", "rounds", "load, start to end", "goals met"], rows)


def machines(reports: Sequence[Report]) -> list[str]:
    """Lay out machines and versions, a column for each machine that differs."""
    columns: dict[str, list[str]] = {}
    for each in reports:
        if each.content:
            told = each.content["machine"]
            facts = {title: told[key] for key, title in FACTS.items()} | told["versions"]
            columns.setdefault(json.dumps(facts), []).append(each.name)
    if not columns:
        return ["Nothing is measured.", ""]
    frame = pd.DataFrame([json.loads(facts) for facts in columns], dtype=object)
    head = ["all parts"] if len(columns) == 1 else [", ".join(names) for names in columns.values()]
    return table(["", *head], [[plain(title), *map(plain, frame[title])] for title in frame])


def goals_of(reports: Sequence[Report]) -> list[str]:
    """Lay out the goals of a part, those of both engines side by side."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in reports:
        for goal in each.content.get("goals", []):
            told = f"{plain(goal['measured'])}, {VERDICTS[goal['met']]}"
            found.setdefault((plain(goal["what"]), plain(goal["goal"])), {})[each.engine] = told
    heads = [ENGINES[each.engine] for each in reports] if len(reports) > 1 else ["measured"]
    rows = [[*about, *(told.get(each.engine, "") for each in reports)] for about, told in found.items()]
    return table(["figure", "goal", *heads], rows) if rows else []


def figures_of(about: dict[str, Any], reports: Sequence[Report]) -> pd.DataFrame:
    """Return a table of a part under the titles of its columns, the rows of both engines below each other."""
    columns = {"engine": "engine", **about["columns"]}
    rows = pd.concat([each.rows for each in reports])
    if piece := about.get("limit"):
        of_piece = {f"{piece}.cpu_s": "CPU s", f"{piece}.wall_s": "clock, s", "limit.cpu_s": "LIMIT, CPU s"}
        columns |= {"kernel_alone_cpu_s": "kernel alone, CPU s", **of_piece, "/ LIMIT": "/ LIMIT"}
        rows = rows.reindex(columns=rows.columns.union([*of_piece], sort=False)).dropna(subset=list(of_piece))
        rows["/ LIMIT"] = [ratio(*pair) for pair in zip(rows[f"{piece}.cpu_s"], rows["limit.cpu_s"], strict=True)]
    if "across" in about:
        rows = rows.reindex(columns=[*columns, about["across"], about["values"]])
        rows = rows.pivot_table(about["values"], [*columns], about["across"], sort=False).reset_index()
        columns |= {each: each for each in rows.columns if each not in columns}
    for column, value in about.get("where", {}).items():
        rows = rows[rows[column] == value] if column in rows else rows.head(0)
    needed = [about["needs"]] if "needs" in about else []
    shown = rows.reindex(columns=[*dict.fromkeys([*columns, *needed])]).dropna(subset=needed)[list(columns)]
    shown = shown if reports[0].part not in ONE_ENGINE else shown.drop(columns="engine")
    return shown.dropna(axis="columns", how="all").rename(columns=columns)


def section(part: str, reports: Sequence[Report]) -> list[str]:
    """Lay out a part."""
    lines = [f"## {part}", "", PARTS[part]["text"], ""]
    for each in reports:
        lines += [f"{each.name}: {'; '.join(each.states)}.", ""] if each.states else []
    lines += goals_of(reports)
    for title, about in PARTS[part].get("tables", {}).items():
        shown = figures_of(about, reports)
        if len(shown):
            cells = [
                [plain(None if pd.isna(value) else value) for value in row] for row in shown.itertuples(index=False)
            ]
            lines += [f"{title}:", "", *table([plain(column) for column in shown], cells)]
    return lines


def ratios(reports: Sequence[Report]) -> pd.DataFrame:
    """Return the ratios to LIMIT: a row for each model and a column for each engine."""
    found: dict[str, dict[str, float]] = {}
    for part, about in PARTS.items():
        own = [each for each in reports if each.part == part]
        for each in about.get("tables", {}).values():
            for row in figures_of(each, own).to_dict("records") if "limit" in each else ():
                names = [row[title] for title in each["columns"].values() if isinstance(row.get(title), str)]
                names += [each["limit"]] if part == "graphs" else []
                found.setdefault(f"{part}: {', '.join(names)}", {})[row.get("engine", "Spark")] = row["/ LIMIT"]
    return pd.DataFrame.from_dict(found, orient="index").reindex(columns=list(ENGINES.values()))


def write(results: Path | None = None, out: Path | None = None, is_full: bool = True) -> Path:
    """Write the page and its plots; the path of the page.

    Args:
        results: The folder of the files (default: docs/benchmarks/figures, or target/bench without `is_full`).
        out: The folder to write to (default: docs/benchmarks, or target/bench/page without `is_full`).
        is_full: Whether figures below the full size are left out.
    """
    reports = read(results or (report.FIGURES if is_full else report.RESULTS), is_full)
    out = out or (DOCS if is_full else SMALL)
    out.mkdir(parents=True, exist_ok=True)
    rows = {part: pd.concat([each.rows for each in reports if each.part == part]) for part in PARTS}
    drawn = page_plots.draw(rows, ratios(reports), out)

    def picture(name: str, text: str) -> list[str]:
        return [f"![{text}]({name})", ""] if name in drawn else []

    lines = [HEAD]
    if not is_full:
        lines += ["The figures are of any size: the column `scale` has the fraction of the full size.", ""]
    lines += ["## The machine", "", *machines(reports), "## What was measured", "", *runs(reports)]
    lines += picture("limits.svg", "CPU seconds of the models by those of LIMIT")
    for part in PARTS:
        lines += section(part, [each for each in reports if each.part == part])
        if part == "others":
            lines += picture("others.svg", "CPU seconds of each tool by messages")
    growth = picture("growth.svg", "CPU seconds of the kernels by size")
    lines += ["## Growth", "", *growth] if growth else []
    page = out / "README.md"
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return page


def main(argv: list[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description="Write docs/benchmarks/README.md.")
    parser.add_argument("--results", type=Path, help="the folder of the files (default: docs/benchmarks/figures)")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: docs/benchmarks)")
    parser.add_argument("--any-scale", action="store_true", help="figures of any size, from and to target/bench")
    options = parser.parse_args(argv)
    if options.results and not options.results.is_dir():
        parser.error(f"--results: there is no folder {options.results}; give one that has the files of figures")
    print(f"page: written to {write(options.results, options.out, not options.any_scale)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
