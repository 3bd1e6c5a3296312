"""Write docs/benchmarks, one page with all figures of the benchmarks: `python -m bench.page`.

The page depends only on the files of figures beside it. A part without a file, or measured below the full size, is
listed as not measured. Texts of the files are escaped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import page_plots, report
from bench.machine import ROOT
from bench.page_tables import PARTS, Part, Row, Table, at
from bench.page_text import code, is_number, markdown, minutes, plain

DOCS = ROOT / "docs" / "benchmarks"
SMALL = report.RESULTS / "page"  # for runs below the full size
ENGINES = {"spark": "Spark", "sail": "Sail"}
#: Parts that run on one engine or on none; on Sail, `graphs` would leave the files of dropped tables.
ONE_ENGINE = ("graphs", "tables", "ask", "others", "skew", "evaluation", "arrivals")
NONE = "not measured"
HEAD = """# All figures of the benchmarks

`python -m bench.page` writes this page from the files in [figures](figures), and so does every `make bench`; it is not
edited by hand. The [benchmarks](../../bench/README.md) explain what each part measures.

**LIMIT** is the same in all parts: read the columns that the model needs, shuffle them by graph, write the rows that
the model writes. Seconds are CPU seconds of all processes, as medians of the rounds. Seconds on the clock are context
only, because the machine may have had other work; its load is in the table. Between machines or days, compare ratios
and not seconds. `make bench BENCH_ARGS="<part> --engines spark sail"` measures a part that is listed as not measured.
"""


@dataclass
class Report:
    """A file of figures.

    Attributes:
        part: The benchmark.
        engine: The engine that ran it.
        content: The content of the file; empty without a usable file.
        failed: The description of a failure later than the file.
        problem: The reason why the file is not used.
    """

    part: str
    engine: str
    content: Row = field(default_factory=dict)
    failed: Row | None = None
    problem: str | None = None

    @property
    def rows(self) -> list[Row]:
        """The figures."""
        return dicts(self.content.get("results"))

    @property
    def goals(self) -> list[Row]:
        """The goals."""
        return dicts(self.content.get("goals"))

    @property
    def name(self) -> str:
        """The name on the page."""
        return self.part if self.part in ONE_ENGINE else f"{self.part} on {ENGINES[self.engine]}"

    @property
    def state(self) -> str:
        """The reason why figures are missing or old; empty for a part that was measured without failure since."""
        said = []
        if not self.content:
            said.append(f"{NONE}{f' ({self.problem})' if self.problem else ''}")
        if self.failed is not None:
            date, commit = minutes(self.failed.get("date")), code(self.failed.get("revision"))
            older = "; the figures shown are older" if self.content else ""
            said.append(f"failed {date}, commit {commit}: {plain(self.failed.get('error'))}{older}")
        return "; ".join(said)


def dicts(value: Any) -> list[Row]:
    """Return the objects of a list; none for a value that is not a list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def read(folder: Path, is_full: bool = True) -> dict[tuple[str, str], Report]:
    """Read the files of all parts in a folder; with `is_full`, without those below the full size."""
    found = {}
    for part in PARTS:
        for engine in ENGINES if part not in ONE_ENGINE else ("spark",):
            each = found[part, engine] = Report(part, engine)
            each.failed = _json(report.path_of(part, engine, folder, failed=True))[0]
            content, each.problem = _json(report.path_of(part, engine, folder))
            scale = at(content, "scale")
            if content is not None and is_full and scale != 1:
                each.problem = f"{minutes(content.get('date'))} at {plain(scale) or '?'} of the full size only"
            elif content is not None:
                each.content = content
    return found


def _json(path: Path) -> tuple[Row | None, str | None]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError, RecursionError) as error:
        return None, f"{path.name} cannot be read ({type(error).__name__})"
    return (content, None) if isinstance(content, dict) else (None, f"{path.name} is no report")


def runs(reports: Sequence[Report]) -> list[str]:
    """Lay out when, at which commit and under which load each part was measured, and how many goals it meets."""
    rows = []
    for each in reports:
        content = each.content
        if not content:
            rows.append([each.name, each.state, *[""] * 5])
            continue
        met = [goal["met"] for goal in each.goals if isinstance(goal.get("met"), bool)]
        date = "; ".join(filter(None, [minutes(content.get("date")), each.state]))
        facts = [code(at(content, "machine.revision")), plain(content.get("scale")), plain(content.get("repeats"))]
        rows.append([each.name, date, *facts, load(content), f"{sum(met)} of {len(met)}" if met else "none"])
    head = ["part", "measured, UTC", "commit", "scale", "rounds", "load, start to end", "goals met"]
    return [*markdown(head, rows), ""]


def load(content: Row) -> str:
    """Return the machine's load of the last minute, before a part and at its end."""
    told = [content.get("load_at_start"), at(content, "machine.load_average")]
    return " to ".join(plain(each[0]) if each and isinstance(each, list) else "?" for each in told)


FACTS = {"processor": "processor", "cores": "cores", "memory_gib": "memory, GiB", "system": "system"}


def machines(reports: Sequence[Report]) -> list[str]:
    """Lay out machines and versions, a column for each machine that differs."""
    found: dict[str, tuple[Row, list[str]]] = {}
    for each in reports:
        machine = each.content.get("machine")
        if isinstance(machine, dict):
            kept = {key: machine.get(key) for key in (*FACTS, "versions")}
            found.setdefault(json.dumps(kept, sort_keys=True), (kept, []))[1].append(each.name)
    if not found:
        return ["Nothing is measured.", ""]
    facts, names = zip(*found.values(), strict=True)
    versions = [of if isinstance(of, dict) else {} for of in (fact["versions"] for fact in facts)]
    rows = [[title, *(plain(fact[key]) for fact in facts)] for key, title in FACTS.items()]
    for package in dict.fromkeys(name for each in versions for name in each):
        rows.append([plain(package), *(plain(each.get(package)) for each in versions)])
    head = ["all parts"] if len(names) == 1 else [", ".join(each) for each in names]
    return [*markdown(["", *head], rows), ""]


def goals_of(reports: Sequence[Report]) -> list[str]:
    """Lay out the goals of a part, those of both engines side by side."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in reports:
        for goal in each.goals:
            is_met = goal.get("met") if isinstance(goal.get("met"), bool) else None
            verdict = {True: "met", False: "**missed**", None: "not judged"}[is_met]
            told = f"{plain(goal.get('measured')) or '?'}, {verdict}"
            found.setdefault((plain(goal.get("what")), plain(goal.get("goal"))), {})[each.engine] = told
    if not found:
        return []
    heads = [ENGINES[each.engine] for each in reports] if len(reports) > 1 else ["measured"]
    rows = [[*about, *(told.get(each.engine, "") for each in reports)] for about, told in found.items()]
    return [*markdown(["figure", "goal", *heads], rows), ""]


def figures_of(table: Table, reports: Sequence[Report]) -> list[str]:
    """Lay out a table of a part, both engines side by side if its figures depend on the engine."""
    shown = [(each, table.find_lines(each.rows)) for each in reports]
    if table.any_engine:
        shown = [(each, lines) for each, lines in shown if lines][:1]
        if not shown:
            return []
    used = [(each, lines, columns_of(shown, lines)) for each, lines in shown if lines]
    if not any(titles for _, _, titles in used):
        return [f"{table.title}: {NONE}.", ""]
    prefix = len(reports) > 1 and not table.any_engine
    titles_of_names = [title for _, title in table.names]
    head = titles_of_names + [
        f"{ENGINES[each.engine]}: {title}" if prefix else title for each, _, titles in used for title in titles
    ]
    body = []
    for names in ordered(table, [lines for _, lines in shown]):
        cells = [*names, *[""] * (len(table.names) - len(names))]
        for _, lines, titles in used:
            figures = lines.get(names)
            cells += [plain(figures.get(title)) for title in titles] if figures else [NONE, *[""] * (len(titles) - 1)]
        body.append(cells)
    missing = [ENGINES[each.engine] for each, lines in shown if not lines] if prefix else []
    remark = f" (on {' and '.join(missing)} {NONE})" if missing else ""
    return [f"{table.title}{remark}:", "", *markdown([plain(title) for title in head], body), ""]


def columns_of(shown: Sequence[tuple[Report, dict]], lines: dict[tuple[str, ...], Row]) -> list[str]:
    """Return the columns with a figure in these lines, in the order of all lines."""
    titles = dict.fromkeys(title for _, others in shown for figures in others.values() for title in figures)
    return [title for title in titles if any(figures.get(title) is not None for figures in lines.values())]


def ordered(table: Table, all_lines: Sequence[dict[tuple[str, ...], Row]]) -> list[tuple[str, ...]]:
    """Return the names of all lines: the expected ones first, whether they were measured or not."""
    names = list(dict.fromkeys(each for lines in all_lines for each in lines))
    first: list[tuple[str, ...]] = []
    for begin in (tuple(map(plain, each)) for each in table.expected):
        first += [each for each in names if each[: len(begin)] == begin] or [begin]
    return first + [each for each in names if each not in first]


def section(part: str, about: Part, reports: Sequence[Report]) -> list[str]:
    """Lay out a part."""
    lines = [f"## {part}", "", about.text, *([about.note] if about.note else []), ""]
    for each in reports:
        if each.state:
            lines += [f"{each.name}: {each.state}.", ""]
    lines += goals_of(reports)
    if any(each.content for each in reports):
        for table in about.tables:
            lines += figures_of(table, reports)
    return lines


def ratios(reports: dict[tuple[str, str], Report]) -> Iterator[tuple[str, str, float]]:
    """Yield the ratios to LIMIT: the model, the engine, the ratio."""
    for (part, engine), each in reports.items():
        for table in PARTS[part].tables:
            for names, figures in table.find_lines(each.rows).items():
                if is_number(ratio := figures.get("/ LIMIT")):
                    words = [name for name in names if not name.replace(",", "").isdigit()]
                    yield f"{part}: {', '.join(words)}", ENGINES[engine], ratio


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
    drawn = page_plots.draw({key: each.rows for key, each in reports.items()}, list(ratios(reports)), out)

    def picture(name: str, text: str) -> list[str]:
        return [f"![{text}]({name})", ""] if name in drawn else []

    every = list(reports.values())
    lines = [HEAD]
    if not is_full:
        lines += ["The figures are of any size: the column `scale` has the fraction of the full size.", ""]
    lines += ["## The machine", "", *machines(every), "## What was measured", "", *runs(every)]
    lines += picture("limits.svg", "CPU seconds of the models by those of LIMIT")
    for part, about in PARTS.items():
        lines += section(part, about, [each for each in every if each.part == part])
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
