"""The plots of the page of figures, as SVG that is the same on every run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.evaluation_plots import figure, save, style
from bench.page_text import is_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = dict[tuple[str, str], list[dict[str, Any]]]
Points = list[tuple[float, float]]


def draw(rows: Rows, ratios: list[tuple[str, str, float]], folder: Path) -> list[str]:
    """Draw plots into a folder, and delete old plots without figures; return the names of the drawn files."""
    with style("benchmarks"):
        made = {"limits.svg": limits(ratios), "growth.svg": growth(rows), "others.svg": others(rows)}
        for name, plot in made.items():
            if plot is None:
                (folder / name).unlink(missing_ok=True)
            else:
                save(plot, folder / name)
    return [name for name, plot in made.items() if plot is not None]


def limits(ratios: list[tuple[str, str, float]]) -> Figure | None:
    """Draw bars: the cost of each model as a multiple of LIMIT."""
    if not ratios:
        return None
    models = list(dict.fromkeys(what for what, _, _ in ratios))[::-1]
    drawn, (axes,) = figure(1, 9.5, height=1 + 0.32 * len(models))
    for place, (engine, shift) in enumerate({"Spark": 0.2, "Sail": -0.2}.items()):
        bars = [(models.index(what) + shift, ratio) for what, of, ratio in ratios if of == engine]
        if bars:
            axes.barh(*zip(*bars, strict=True), height=0.38, color=f"C{place}", label=engine)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(models)), [text(model) for model in models])
    axes.set(xlabel="CPU seconds / those of LIMIT", xlim=(0, None))
    axes.legend(fontsize=7)
    return drawn


def points(rows: list[dict[str, Any]], size: str, **wanted: Any) -> Points:
    """Return the sizes and CPU seconds that can be drawn."""
    found = {
        row[size]: row["cpu_s"]
        for row in rows
        if all(row.get(key) == value for key, value in wanted.items())
        and is_number(row.get(size))
        and is_number(row.get("cpu_s"))
        and min(row[size], row["cpu_s"]) > 0
    }
    return sorted(found.items())


def first(rows: Rows, part: str) -> list[dict[str, Any]]:
    """Return the figures of a part that do not depend on the engine."""
    return rows.get((part, "spark")) or rows.get((part, "sail")) or []


def growth(rows: Rows) -> Figure | None:
    """Draw lines: the seconds of kernels by size, one panel for each kernel."""
    timelines, sets, autobase, skew = (first(rows, part) for part in ("timelines", "sets", "autobase", "skew"))
    panels: dict[str, dict[str, Points]] = {
        "edit scripts, 16 feeds": {
            f"batches of {batch:,}": points(timelines, "events", part="growth", batch=batch, feeds=16)
            for batch in (1, 10, 1_000)
        },
        "one set": {"reduction": points(sets, "messages", part="kernel")},
        "one base": {
            f"{indexers} indexers": points(autobase, "nodes", part="kernel", indexers=indexers) for indexers in (3, 9)
        },
        "one large tangle": {
            name: points(skew, "messages", kernel=name)
            for name in ("int_tangle_levels", "int_tangle_clocks", "int_timeline_order")
        },
    }
    panels = {title: {k: v for k, v in lines.items() if len(v) > 1} for title, lines in panels.items()}
    panels = {title: lines for title, lines in panels.items() if lines}
    return _log_panels(panels, "events, messages or nodes") if panels else None


def others(rows: Rows) -> Figure | None:
    """Draw lines: the seconds of each tool by messages, one panel for each shape; crosses mark missing answers."""
    known = first(rows, "others")
    panels: dict[str, dict[str, Points]] = {}
    ended: dict[str, Points] = {}
    for shape in ("W", "D"):
        lines = {
            who: points(known, "messages", shape=shape, who=who)
            for who in dict.fromkeys(row["who"] for row in known if isinstance(row.get("who"), str))
        }
        panels[shape] = {who: line for who, line in lines.items() if line}
        top = max((seconds for line in lines.values() for _, seconds in line), default=1)
        ended[shape] = [
            (row["messages"], top)
            for row in known
            if row.get("shape") == shape and row.get("ended") is not None and is_number(row.get("messages"))
        ]
    panels = {shape: lines for shape, lines in panels.items() if lines}
    return _log_panels(panels, "messages", ended) if panels else None


def _log_panels(panels: dict[str, dict[str, Points]], of: str, ended: dict[str, Points] | None = None) -> Figure:
    drawn, all_axes = figure(len(panels), 3.2 * len(panels) if len(panels) > 1 else 6)
    for axes, (title, lines) in zip(all_axes, panels.items(), strict=True):
        for name, line in lines.items():
            axes.plot(*zip(*line, strict=True), marker=".", label=text(name))
        if crosses := (ended or {}).get(title):
            axes.plot(*zip(*crosses, strict=True), "x", color="black", label="no answer")
        axes.set(title=title, xlabel=of, xscale="log", yscale="log")
        axes.legend(fontsize=7)
    all_axes[0].set(ylabel="CPU seconds")
    return drawn


def text(name: str) -> str:
    """Return a text of a file as a label: matplotlib takes text between dollar signs for a formula."""
    return name[:60].replace("$", r"\$")
