"""Goals, the files of figures, and the lines of progress."""

import json
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from bench import machine
from bench.cpu import Spent

RESULTS = machine.ROOT / "target" / "bench"
#: Figures of the full size are kept beside the page that shows them, because machines come and go.
FIGURES = machine.ROOT / "docs" / "benchmarks" / "figures"
OWN_LOGS = ("log", "peer_log")


def is_full(options: Namespace) -> bool:
    """Whether a run measures the page in the repository: at full size, and over the logs that are made here."""
    return options.scale == 1 and not any(getattr(options, name, None) for name in OWN_LOGS)


def folder_of(options: Namespace) -> Path:
    """Return the folder for the figures of a run."""
    return FIGURES if is_full(options) else RESULTS


@dataclass(frozen=True)
class Goal:
    """A goal and the measured figure."""

    what: str  # The name of the figure
    goal: str  # The wanted value, in words
    measured: float | int | str  # The measured value
    met: bool | None  # Whether the goal is met; None if this run cannot tell, because the goal applies to the full size

    def __str__(self) -> str:
        verdict = {True: "met", False: "MISSED", None: "not judged at this scale"}[self.met]
        return f"{self.what}: {self.measured} (goal: {self.goal}; {verdict})"


def at_most(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Return a goal for a figure that should be small."""
    return Goal(what, f"at most {limit:g}", measured, measured <= limit if judged else None)


def at_least(what: str, limit: float, measured: float, judged: bool = True) -> Goal:
    """Return a goal for a figure that should be large."""
    return Goal(what, f"at least {limit:g}", measured, measured >= limit if judged else None)


#: The figures and the goals of a part.
Part = tuple[list[dict], list[Goal]]


def run_parts(options: Namespace, *parts: Callable[[float, int], Part]) -> Part:
    """Run the parts of a benchmark, functions of the scale and the number of rounds."""
    results, goals = [], []
    for part in parts:
        found, wanted = part(options.scale, options.repeats)
        results += found
        goals += wanted
    return results, goals


def summary(runs: list[Spent]) -> dict:
    """Sum up runs of the same work: medians, and every run's seconds."""
    return {
        "cpu_s": round(median(run.total for run in runs), 2),
        "cpu_s_by_process": {kind: round(median(run.cpu[kind] for run in runs), 2) for kind in runs[0].cpu},
        "wall_s": round(median(run.wall for run in runs), 2),
        "cpu_s_of_runs": [round(run.total, 2) for run in runs],
        "wall_s_of_runs": [round(run.wall, 2) for run in runs],
    }


def save(name: str, options: Namespace, results: list[dict], goals: list[Goal], load: tuple[float, ...]) -> Path:
    """Write `<name>.json`, or `<name>-sail.json`, delete the file of an earlier failure, and return the path.

    Args:
        name: The benchmark.
        options: The options of the command line, with the engine.
        results: The figures.
        goals: The goals.
        load: The machine's load before the run; `machine` has the load after it.
    """
    folder = folder_of(options)
    path_of(name, options.engine, folder, failed=True).unlink(missing_ok=True)
    report = {
        **{"benchmark": name, "engine": options.engine, "date": now()},
        **{"scale": options.scale, "repeats": options.repeats},
        **{"goals": [asdict(goal) for goal in goals], "results": results},
        **{"load_at_start": [round(each, 2) for each in load], "machine": machine.facts()},
    }
    path = path_of(name, options.engine, folder)
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
