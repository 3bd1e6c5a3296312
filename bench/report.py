"""Goals, the files of figures, and the lines of progress."""

import json
import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import machine
from bench.cpu import Spent

RESULTS = machine.ROOT / "target" / "bench"
#: Figures of the full size are kept beside the page that shows them, because machines come and go.
FIGURES = machine.ROOT / "docs" / "benchmarks" / "figures"
OWN_LOGS = ("log", "pzp_log", "peer_log")


def is_full(options: Namespace) -> bool:
    """Whether a run measures the page in the repository: at full size, and over the logs that are made here."""
    return options.scale == 1 and not any(getattr(options, name, None) for name in OWN_LOGS)


def folder_of(options: Namespace) -> Path:
    """Return the folder for the figures of a run."""
    return FIGURES if is_full(options) else RESULTS


@dataclass(frozen=True)
class Goal:
    """A goal and the measured figure.

    Attributes:
        what: The name of the figure.
        goal: The wanted value, in words.
        measured: The measured value.
        met: Whether the goal is met; None if this run cannot tell, because the goal applies to the full size.
    """

    what: str
    goal: str
    measured: float | int | str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "met", False: "MISSED", None: "not judged at this scale"}[self.met]
        return f"{self.what}: {self.measured} (goal: {self.goal}; {verdict})"


def at_most(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Return a goal for a figure that should be small."""
    return Goal(what, f"at most {limit:g}", measured, measured <= limit if judged else None)


def at_least(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Return a goal for a figure that should be large."""
    return Goal(what, f"at least {limit:g}", measured, measured >= limit if judged else None)


def same(what: str, wanted: int, measured: int) -> Goal:
    """Return a goal for a figure that should not change."""
    return Goal(what, f"{wanted}, as for a small input", measured, measured == wanted)


def summary(runs: list[Spent]) -> dict:
    """Sum up runs of the same work: medians, and every run's seconds."""
    return {
        "cpu_s": round(median(run.total for run in runs), 2),
        "cpu_s_by_process": {kind: round(median(run.cpu[kind] for run in runs), 2) for kind in runs[0].cpu},
        "wall_s": round(median(run.wall for run in runs), 2),
        "cpu_s_of_runs": [round(run.total, 2) for run in runs],
        "wall_s_of_runs": [round(run.wall, 2) for run in runs],
    }


class Run(NamedTuple):
    """A run of a benchmark.

    Attributes:
        name: The benchmark.
        engine: The engine that ran it.
        scale: The fraction of the full size.
        repeats: The number of rounds.
    """

    name: str
    engine: str
    scale: float
    repeats: int


def save(
    run: Run, results: list[dict], goals: list[Goal], folder: Path, load_at_start: tuple[float, ...] | None = None
) -> Path:
    """Write `<name>.json`, or `<name>-sail.json`, and delete the file of an earlier failure.

    Args:
        run: The run.
        results: The figures.
        goals: The goals.
        folder: Where to write.
        load_at_start: The machine's load before the run; `machine` has the load after it.

    Returns:
        The file.
    """
    path = path_of(run.name, run.engine, folder)
    path_of(run.name, run.engine, folder, failed=True).unlink(missing_ok=True)
    report = {
        "benchmark": run.name,
        "engine": run.engine,
        "date": now(),
        "scale": run.scale,
        "repeats": run.repeats,
        "goals": [asdict(goal) for goal in goals],
        "results": results,
        "load_at_start": [round(load, 2) for load in load_at_start] if load_at_start else None,
        "machine": machine.facts(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def save_failure(name: str, engine: str, error: str, folder: Path) -> Path:
    """Write the failure of a benchmark beside its last figures; return the file."""
    path = path_of(name, engine, folder, failed=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {"benchmark": name, "engine": engine, "date": now(), "revision": machine.revision(), "error": error}
    path.write_text(json.dumps(told, indent=2) + "\n")
    return path


def path_of(name: str, engine: str, folder: Path, failed: bool = False) -> Path:
    """Return the path of a benchmark's figures, or of its failure."""
    return folder / f"{name}{'' if engine == 'spark' else f'-{engine}'}{'-failed' if failed else ''}.json"


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)
