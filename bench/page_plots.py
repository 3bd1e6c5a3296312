"""The plots of the page of figures, as SVG that is the same on every run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from bench.evaluation_plots import figure, save, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The panels of the plot of growth: the part, the rows, the size, and the key that names a line.
GROWTH = {
    "edit scripts, 16 feeds": ("timelines", "part == 'growth' and feeds == 16", "events", "batch"),
    "one set": ("sets", "part == 'kernel'", "messages", "part"),
    "one base": ("autobase", "part == 'kernel'", "nodes", "indexers"),
    "one large tangle": ("skew", "messages > 0", "messages", "kernel"),
}


def draw(rows: dict[str, pd.DataFrame], ratios: pd.DataFrame, folder: Path) -> list[str]:
    """Draw plots into a folder, and delete old plots without figures; return the names of the drawn files."""
    growth = {title: lines_of(rows[part], *wanted) for title, (part, *wanted) in GROWTH.items()}
    others = {
        f"{question}, {shape}": lines_of(
            rows["others"], f"question == '{question}' and shape == '{shape}'", "messages", "who"
        )
        for question in ("depth", "ancestors")
        for shape in ("W", "D")
    }
    with style("benchmarks"):
        made = {
            "limits.svg": limits(ratios),
            "growth.svg": panels(growth, "events, messages or nodes"),
            "others.svg": panels(others, "messages"),
        }
        for name, plot in made.items():
            if plot is None:
                (folder / name).unlink(missing_ok=True)
            else:
                save(plot, folder / name)
    return [name for name, plot in made.items() if plot is not None]


def limits(ratios: pd.DataFrame) -> Figure | None:
    """Draw bars: the cost of each model as a multiple of LIMIT."""
    if ratios.empty:
        return None
    drawn, (axes,) = figure(1, 9.5, height=1 + 0.32 * len(ratios))
    ratios.rename(index=text)[::-1].plot.barh(ax=axes, width=0.8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xlabel="CPU seconds / those of LIMIT")
    return drawn


def lines_of(rows: pd.DataFrame, wanted: str, size: str, name: str) -> pd.DataFrame:
    """Return the CPU seconds by size, a column for each line; empty without any."""
    if not {"cpu_s", size, name} <= {*rows.columns}:
        return pd.DataFrame()
    return rows.query(wanted).pivot_table("cpu_s", size, name, sort=False).sort_index().rename(columns=text)


def panels(lines: dict[str, pd.DataFrame], sizes: str) -> Figure | None:
    """Draw lines: the CPU seconds by size, one panel for each title that has at least two sizes."""
    lines = {title: frame for title, frame in lines.items() if len(frame) > 1}
    if not lines:
        return None
    drawn, all_axes = figure(len(lines), 3.2 * len(lines) if len(lines) > 1 else 6)
    for axes, (title, frame) in zip(all_axes, lines.items(), strict=True):
        for name, line in frame.items():
            line.dropna().plot(ax=axes, marker=".", label=name, loglog=True, title=title)
        axes.set(xlabel=sizes, ylabel="CPU seconds")
        axes.legend(fontsize=7, title=frame.columns.name, title_fontsize=7)
    return drawn


def text(name: object) -> str:
    """Return a text of a file as a label: matplotlib takes text between dollar signs for a formula."""
    return (f"{name:g}" if isinstance(name, float) else str(name))[:60].replace("$", r"\$")
