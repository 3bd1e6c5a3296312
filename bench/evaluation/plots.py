"""The plots of the evaluation, as SVG that is the same on every run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tables = dict[str, list[dict[str, Any]]]


def draw(tables: Tables, folder: Path) -> None:
    """Draw all plots into a folder."""
    with style("evaluation"):
        save(sizes(tables), folder / "sizes.svg")
        save(batches(tables), folder / "batches.svg")
        save(repetitions(tables), folder / "repetitions.svg")


def style(salt: str) -> AbstractContextManager[None]:
    """Return the style of plots; the salt makes the names within an SVG the same on every run."""
    import matplotlib

    settings = {"svg.hashsalt": salt, "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    return matplotlib.rc_context({**settings, "axes.spines.top": False, "axes.spines.right": False})


def save(figure: Figure, path: Path) -> None:
    """Write a plot, without the date."""
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def figure(columns: int, width: float) -> tuple[Figure, list[Axes]]:
    """Make a plot of panels side by side."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, 3.6), layout="constrained")
    return made, list(made.subplots(1, columns, sharey=True, squeeze=False)[0])


def _label(size: int) -> str:
    return f"{size // 1024}K" if size % 1024 == 0 else f"{size:,}"


def _log_axis(axes: Axes, ticks: list[int], base: int) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=base)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def sizes(tables: Tables) -> Figure:
    """Commands per event by number of feeds, a line for each size: measured, and as printed in the document."""
    drawn, (ours, printed) = figure(2, 9.5)
    rows = tables["sizes"]
    feeds = list(dict.fromkeys(row["feeds"] for row in rows))
    for size in dict.fromkeys(row["events"] for row in rows):
        line = [row for row in rows if row["events"] == size]
        ours.plot(feeds, [row["p50_of_runs"] for row in line], marker=".", label=f"shortest, {_label(size)}")
        printed.plot(feeds, [row["document"] for row in line], marker=".", label=_label(size))
    theirs = [row for row in tables["peer"] if row["references"] == 1 and row["peer"] is not None]
    for number, size in enumerate(dict.fromkeys(row["events"] for row in theirs)):
        line = [row for row in theirs if row["events"] == size]
        ours.plot(
            [row["feeds"] for row in line],
            [row["peer"] for row in line],
            color="black",
            linewidth=1,
            linestyle=("-", "--", "-.", ":")[number % 4],
            label=f"peer, {_label(size)}",
        )
    ours.set(title="measured", xlabel="feeds", ylabel="commands per event", ylim=(0, None))
    printed.set(title="printed in the document", xlabel="feeds")
    for axes in (ours, printed):
        _log_axis(axes, feeds, 2)
        axes.legend(fontsize=7)
    return drawn


def batches(tables: Tables) -> Figure:
    """Commands per event by the number of arrivals that share a script."""
    drawn, (axes,) = figure(1, 6)
    rows = tables["batches"]
    colours: dict[int, str] = {}
    styles = dict(zip(dict.fromkeys(row["events"] for row in rows), ("-", "--"), strict=True))
    for size, feeds in dict.fromkeys((row["events"], row["feeds"]) for row in rows):
        line = [row for row in rows if (row["events"], row["feeds"]) == (size, feeds)]
        colour = colours.setdefault(feeds, f"C{len(colours)}")
        axes.plot(
            [row["batch"] for row in line],
            [row["per_event"] for row in line],
            styles[size],
            marker=".",
            color=colour,
            label=f"{feeds} feeds, {_label(size)}",
        )
    _log_axis(axes, list(dict.fromkeys(row["batch"] for row in rows)), 10)
    axes.set(xlabel="arrivals in a batch", ylabel="commands per event", ylim=(0, None))
    axes.legend(fontsize=7)
    return drawn


def repetitions(tables: Tables) -> Figure:
    """The spread of commands per event over repetitions, with the figures that the document prints."""
    rows = tables["sizes"]
    by_size = sorted({row["events"] for row in rows})[::2]
    drawn, panels = figure(len(by_size), 9.5)
    feeds = list(dict.fromkeys(row["feeds"] for row in rows))
    for size, axes in zip(by_size, panels, strict=True):
        line = [row for row in rows if row["events"] == size]
        middle = [row["p50_of_runs"] for row in line]
        spread = [
            [row["p50_of_runs"] - row["p5_of_runs"] for row in line],
            [row["p95_of_runs"] - row["p50_of_runs"] for row in line],
        ]
        places = [row["feeds"] for row in line]
        axes.errorbar(places, middle, spread, fmt="o", markersize=3, capsize=3, label="shortest: p5, median, p95")
        axes.plot(places, [row["document"] for row in line], "x", color="black", label="document: one run")
        axes.set(title=f"{_label(size)} events, {line[0]['runs']} runs", xlabel="feeds")
        _log_axis(axes, feeds, 2)
        axes.legend(fontsize=7)
    panels[0].set(ylabel="commands per event", ylim=(0, None))
    return drawn
