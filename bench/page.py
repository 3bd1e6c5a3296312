"""One page with all figures of the benchmarks, docs/benchmarks: `python -m bench.page`.

It is made of the files of figures beside it alone, so the same files make the same page. What is not there, or was
measured at less than the full size, is named as not measured. Texts of the files are shown as text, whatever they hold.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import page_plots, report
from bench.machine import ROOT
from bench.page_tables import PARTS, Part, Row, Table, at, is_number

DOCS = ROOT / "docs" / "benchmarks"
SMALL = report.RESULTS / "page"  # of runs of less than the full size
ENGINES = {"spark": "Spark", "sail": "Sail"}
#: Without an engine; with a plan of Spark's; by dbt in the bare catalog of a session, where Sail leaves the files of
#: tables that it dropped.
ONE_ENGINE = ("graphs", "tables", "ask", "others", "skew", "evaluation", "arrivals")
LONGEST = 160  # characters of a text in a cell
NONE = "not measured"
HEAD = """# All figures of the benchmarks

`python -m bench.page` writes this page, and so does every `make bench`, of the files in [figures](figures); nothing on
it is written by hand. What the parts measure, and how, is in [bench](../../bench/README.md).

**LIMIT** is one thing in all parts: read what the model needs, shuffle it by graph, write what the model writes.
Seconds are CPU seconds of all processes, medians of the rounds; the clock is context, as the machine may have had other
work: its load is in the table. Seconds of different machines or days say little next to each other; ratios do. Where a
part is named as not measured, `make bench BENCH_ARGS="<part> --engines spark sail"` measures it.
"""


@dataclass
class Report:
    """A file of figures.

    Attributes:
        part: The benchmark.
        engine: What ran it.
        content: What is in it; empty where there is none.
        failed: What is known of a failure that came later than the file.
        problem: Why the file is of no use.
    """

    part: str
    engine: str
    content: Row = field(default_factory=dict)
    failed: Row | None = None
    problem: str | None = None

    @property
    def rows(self) -> list[Row]:
        """The figures."""
        return [row for row in listed(self.content.get("results")) if isinstance(row, dict)]

    @property
    def name(self) -> str:
        """What it is called on the page."""
        return self.part if self.part in ONE_ENGINE else f"{self.part} on {ENGINES[self.engine]}"


def read(folder: Path, is_full: bool = True) -> dict[tuple[str, str], Report]:
    """Read the files of all parts.

    Args:
        folder: Where they are.
        is_full: Whether figures of less than the full size are left out.
    """
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


def listed(value: Any) -> list[Any]:
    """A list, or none."""
    return value if isinstance(value, list) else []


def plain(value: Any) -> str:
    """Write a value as text that means nothing to Markdown or HTML."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return number(value)
    if not isinstance(value, str):
        return "?"
    text = " ".join(value.split())
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    text = "".join(letter for letter in text if letter.isprintable())
    return re.sub(r"([\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", html.escape(text, quote=False))


def number(value: float) -> str:
    """Write a number with the digits that matter."""
    if isinstance(value, int) or value == round(value):
        return f"{round(value):,}"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.{2 if abs(value) >= 1 else 5}f}".rstrip("0") if abs(value) >= 1e-5 else f"{value:.1e}"


def code(value: Any) -> str:
    """Write a name, such as a commit's; what is no such name is text."""
    text = str(value)
    return f"`{text}`" if re.fullmatch(r"[\w.+-]{1,60}", text, re.ASCII) else plain(value)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def minutes(date: Any) -> str:
    """Write a date without its seconds."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?(\+00:00|Z)", date if isinstance(date, str) else ""
    )
    return f"{found[1]} {found[2]}" if found else plain(date)


def verdict(goal: Row) -> str:
    """Say what was measured, and whether it is what it should be."""
    met = {True: "met", False: "**missed**"}.get(goal.get("met") if isinstance(goal.get("met"), bool) else None)
    return f"{plain(goal.get('measured')) or '?'}, {met or 'not judged'}"


def state(each: Report) -> str:
    """Say of a part what stands in the way of its figures; nothing where all is well."""
    said = []
    if not each.content:
        said.append(f"{NONE}{f' ({each.problem})' if each.problem else ''}")
    if each.failed is not None:
        failed = each.failed
        said.append(
            f"failed {minutes(failed.get('date'))}, commit {code(at(failed, 'revision'))}: {plain(failed.get('error'))}"
            + ("; what is shown is of before" if each.content else "")
        )
    return "; ".join(said)


def runs(reports: dict[tuple[str, str], Report]) -> list[str]:
    """Lay out when what was measured, where the machine was how busy, and how many goals are met."""
    rows = []
    for each in reports.values():
        content = each.content
        goals = [goal for goal in listed(content.get("goals")) if isinstance(goal, dict)]
        judged = [goal for goal in goals if isinstance(goal.get("met"), bool)]
        if not content:
            rows.append([each.name, state(each), "", "", "", "", ""])
            continue
        rows.append(
            [
                each.name,
                minutes(content.get("date")) + (f"; {state(each)}" if state(each) else ""),
                code(at(content, "machine", "revision")),
                plain(content.get("scale")),
                plain(content.get("repeats")),
                load(content),
                f"{sum(goal['met'] for goal in judged)} of {len(judged)}" if judged else "none",
            ]
        )
    return markdown(["part", "measured, UTC", "commit", "scale", "rounds", "load, start to end", "goals met"], rows)


def load(content: Row) -> str:
    """Say how busy the machine was before a part and at its end, the last minute each."""
    told = [listed(content.get("load_at_start"))[:1], listed(at(content, "machine", "load_average"))[:1]]
    return " to ".join(plain(each[0]) if each else "?" for each in told)


def machines(reports: dict[tuple[str, str], Report]) -> list[str]:
    """Lay out what the figures were measured with; more than one column where it was not the same."""
    found: dict[str, tuple[Row, list[str]]] = {}
    for each in reports.values():
        machine = at(each.content, "machine")
        if isinstance(machine, dict):
            kept = {key: machine.get(key) for key in ("processor", "cores", "memory_gib", "system", "versions")}
            found.setdefault(json.dumps(kept, sort_keys=True), (kept, []))[1].append(each.name)
    if not found:
        return ["Nothing is measured.", ""]
    facts, names = zip(*found.values(), strict=True)
    versions = [of if isinstance(of, dict) else {} for of in (at(fact, "versions") for fact in facts)]
    rows = [
        [title, *(plain(fact.get(key)) for fact in facts)]
        for key, title in (
            ("processor", "processor"),
            ("cores", "cores"),
            ("memory_gib", "memory, GiB"),
            ("system", "system"),
        )
    ]
    for package in dict.fromkeys(name for each in versions for name in each):
        rows.append([plain(package), *(plain(each.get(package)) for each in versions)])
    head = ["all parts"] if len(names) == 1 else [", ".join(each) for each in names]
    return markdown(["", *head], rows)


def goals_of(reports: Sequence[Report]) -> list[str]:
    """Lay out the goals of a part, both engines side by side."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in reports:
        for goal in listed(each.content.get("goals")):
            if isinstance(goal, dict):
                about = plain(goal.get("what")), plain(goal.get("goal"))
                found.setdefault(about, {})[each.engine] = verdict(goal)
    if not found:
        return []
    heads = [ENGINES[each.engine] for each in reports] if len(reports) > 1 else ["measured"]
    rows = [[*about, *(told.get(each.engine, "") for each in reports)] for about, told in found.items()]
    return markdown(["figure", "goal", *heads], rows)


def lines_of(table: Table, rows: list[Row]) -> dict[tuple[str, ...], Row]:
    """Find the lines of a table, by what they are about."""
    return {tuple(map(plain, about)): figures for about, figures in table.lines(rows)}


def figures_of(table: Table, reports: Sequence[Report]) -> list[str]:
    """Lay out a table of a part; both engines side by side where its figures depend on them."""
    shown = [(each, lines_of(table, each.rows)) for each in reports]
    if not table.by_engine:
        shown = [(each, lines) for each, lines in shown if lines][:1]
        if not shown:
            return []
    abouts = list(dict.fromkeys(about for _, lines in shown for about in lines))
    ordered: list[tuple[str, ...]] = []
    for begin in (tuple(map(plain, each)) for each in table.expected):
        ordered += [about for about in abouts if about[: len(begin)] == begin] or [begin]
    ordered += [about for about in abouts if about not in ordered]
    titles = list(dict.fromkeys(title for _, lines in shown for figures in lines.values() for title in figures))
    titles = [title for title in titles if any(has(lines, title) for _, lines in shown)]
    if not titles:
        return [f"{table.title}: {NONE}.", ""]
    used = [each for each in shown if each[1]]
    prefix = len(reports) > 1 and table.by_engine
    head = list(table.about) + [
        f"{ENGINES[each.engine]}: {title}" if prefix else title
        for each, lines in used
        for title in titles
        if has(lines, title)
    ]
    body = []
    for about in ordered:
        told = [*about, *[""] * (len(table.about) - len(about))]
        for _, lines in used:
            figures = lines.get(about)
            own = [title for title in titles if has(lines, title)]
            told += [plain(figures.get(title)) for title in own] if figures else [NONE, *[""] * (len(own) - 1)]
        body.append(told)
    missing = [ENGINES[each.engine] for each, lines in shown if not lines] if prefix else []
    remark = f" (on {' and '.join(missing)} {NONE})" if missing else ""
    return [f"{table.title}{remark}:", "", *markdown([plain(title) for title in head], body)]


def has(lines: dict[tuple[str, ...], Row], title: str) -> bool:
    """Whether there is any figure of a title."""
    return any(figures.get(title) is not None for figures in lines.values())


def section(part: str, about: Part, reports: Sequence[Report]) -> list[str]:
    """Lay out a part."""
    lines = [f"## {part}", "", about.what, *([about.note] if about.note else []), ""]
    for each in reports:
        if said := state(each):
            lines += [f"{each.name}: {said}.", ""]
    lines += goals_of(reports)
    if any(each.content for each in reports):
        for table in about.tables:
            lines += figures_of(table, reports)
    return lines


def ratios(reports: dict[tuple[str, str], Report]) -> Iterator[tuple[str, str, float]]:
    """List the ratios to LIMIT as it is now: of what, on which engine."""
    for (part, engine), each in reports.items():
        for table in PARTS[part].tables:
            for about, figures in lines_of(table, each.rows).items():
                if is_number(ratio := figures.get("/ LIMIT")):
                    names = [each for each in about if not each.replace(",", "").isdigit()]
                    yield f"{part}: {', '.join(names)}", ENGINES[engine], ratio


def write(results: Path | None = None, out: Path | None = None, is_full: bool = True) -> Path:
    """Write the page and its plots.

    Args:
        results: Where the files are (default: docs/benchmarks/figures, or target/bench where any size is shown).
        out: Where to write (default: docs/benchmarks, or target/bench/page where figures of any size are shown).
        is_full: Whether figures of less than the full size are left out.

    Returns:
        The page.
    """
    reports = read(results or (report.FIGURES if is_full else report.RESULTS), is_full)
    out = out or (DOCS if is_full else SMALL)
    out.mkdir(parents=True, exist_ok=True)
    drawn = page_plots.draw({key: each.rows for key, each in reports.items()}, list(ratios(reports)), out)
    lines = [HEAD]
    if not is_full:
        lines += ["Figures of any size: the column `scale` says which part of the full one.", ""]
    lines += ["## The machine", "", *machines(reports), "## What was measured", "", *runs(reports)]
    if "limits.svg" in drawn:
        lines += ["![CPU seconds of the models by those of LIMIT](limits.svg)", ""]
    for part, about in PARTS.items():
        of_part = [each for (name, _), each in reports.items() if name == part]
        lines += section(part, about, of_part)
        if part == "others" and "others.svg" in drawn:
            lines += ["![CPU seconds of each tool by messages](others.svg)", ""]
    if "growth.svg" in drawn:
        lines += ["## Growth", "", "![CPU seconds of the kernels by size](growth.svg)", ""]
    page = out / "README.md"
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return page


def main(argv: list[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description="Write docs/benchmarks/README.md.")
    parser.add_argument("--results", type=Path, help="where the files are (default: docs/benchmarks/figures)")
    parser.add_argument("--out", type=Path, help="where to write (default: docs/benchmarks)")
    parser.add_argument(
        "--any-scale", action="store_true", help="figures of less than the full size; from and to target/bench"
    )
    options = parser.parse_args(argv)
    if options.results and not options.results.is_dir():
        parser.error(f"--results: there is no folder {options.results}")
    print(f"page: written to {write(options.results, options.out, not options.any_scale)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
