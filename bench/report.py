"""Goals, the files of figures, and the lines of progress."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from bench import machine
from bench.cpu import Spent

RESULTS = machine.ROOT / "target" / "bench"
#: Figures of the full size are kept with the page that shows them, as machines come and go.
FIGURES = machine.ROOT / "docs" / "benchmarks" / "figures"
OWN_LOGS = ("log", "pzp_log", "peer_log")


def is_full(options: Namespace) -> bool:
    """Whether a run measures what the page in the repository shows: the full size, of the logs that anybody has."""
    return options.scale == 1 and not any(getattr(options, name, None) for name in OWN_LOGS)


def folder_of(options: Namespace) -> Path:
    """Where the figures of a run go."""
    return FIGURES if is_full(options) else RESULTS


@dataclass(frozen=True)
class Goal:
    """A goal and what was measured.

    Attributes:
        what: The figure.
        goal: What it should be, in words.
        measured: What it is.
        met: Whether it is that; None where this run cannot tell, as the goal is for the full size.
    """

    what: str
    goal: str
    measured: float | int | str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "met", False: "MISSED", None: "not judged at this scale"}[self.met]
        return f"{self.what}: {self.measured} (goal: {self.goal}; {verdict})"


def at_most(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Make a goal of something that should be small."""
    return Goal(what, f"at most {limit:g}", measured, measured <= limit if judged else None)


def at_least(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Make a goal of something that should be large."""
    return Goal(what, f"at least {limit:g}", measured, measured >= limit if judged else None)


def same(what: str, wanted: int, measured: int) -> Goal:
    """Make a goal of something that should not change."""
    return Goal(what, f"{wanted}, as for a small input", measured, measured == wanted)


def summary(runs: list[Spent]) -> dict:
    """Sum up runs of the same work: medians, and every run's CPU seconds."""
    return {
        "cpu_s": round(median(run.total for run in runs), 2),
        "cpu_s_by_process": {kind: round(median(run.cpu[kind] for run in runs), 2) for kind in runs[0].cpu},
        "wall_s": round(median(run.wall for run in runs), 2),
        "cpu_s_of_runs": [round(run.total, 2) for run in runs],
        "wall_s_of_runs": [round(run.wall, 2) for run in runs],
    }


def save(
    name: str,
    scale: float,
    repeats: int,
    results: list[dict],
    goals: list[Goal],
    folder: Path,
    engine: str = "spark",
    load_at_start: tuple[float, ...] | None = None,
) -> Path:
    """Write `<name>.json`, or `<name>-sail.json`; what is known of an earlier failure goes.

    Args:
        name: The benchmark.
        scale: The fraction of the full size.
        repeats: How often each piece of work was measured.
        results: The figures.
        goals: The goals.
        folder: Where to write.
        engine: What ran it.
        load_at_start: How busy the machine was before; `machine` has how busy it is now.

    Returns:
        The file.
    """
    path = path_of(name, engine, folder)
    path_of(name, engine, folder, failed=True).unlink(missing_ok=True)
    report = {
        "benchmark": name,
        "engine": engine,
        "date": now(),
        "scale": scale,
        "repeats": repeats,
        "goals": [asdict(goal) for goal in goals],
        "results": results,
        "load_at_start": [round(load, 2) for load in load_at_start] if load_at_start else None,
        "machine": machine.facts(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def save_failure(name: str, engine: str, error: str, folder: Path) -> Path:
    """Write down that a benchmark failed, beside its last figures; the file."""
    path = path_of(name, engine, folder, failed=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {"benchmark": name, "engine": engine, "date": now(), "revision": machine.revision(), "error": error}
    path.write_text(json.dumps(told, indent=2) + "\n")
    return path


def path_of(name: str, engine: str, folder: Path, failed: bool = False) -> Path:
    """Where the figures of a benchmark are, or what is known of its failure."""
    return folder / f"{name}{'' if engine == 'spark' else f'-{engine}'}{'-failed' if failed else ''}.json"


def now() -> str:
    """The time, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)
