"""Long streams of single events: the kernel of fixed slots beside the full one, in seconds and in bytes an event.

Each kernel orders each log in a process of its own. Bytes an event are the memory that the process gains while the
kernel runs, with its input and its result. The full kernel takes any number of causes and writes the shortest scripts;
the kernel of fixed slots takes two and counts its work (ScuttleSort 2022-05-09, sections 2.2.1 and 6).
"""

import time
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np

from bench import events
from bench.report import RESULTS, Goal, at_most, say
from bench.skew import apart
from bench.turns import power
from dbt_tangles.algorithms.timeline.edits import edit_stream
from dbt_tangles.algorithms.timeline.fixed_slots import keep_two_causes, order_stream

NAME = "streams"
FEEDS = 16
LATE = 256
#: By delivery: the numbers of events.
SIZES = {
    f"up to {LATE} late": (1_000_000, 3_000_000, 10_000_000),
    "random feed": (65_536, 131_072, 262_144),
}
KERNELS = ("fixed", "full")
WORK = ("visited", "raised", "moved")
CONSTANT = 1.1  # bytes an event, of the largest log / of the smallest
POWER = 1.15


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure each kernel with each log; return the figures and the goals."""
    folder = RESULTS / NAME
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for delivery, sizes in SIZES.items():
        for full_size in sizes:
            size = max(int(full_size * options.scale) // 2 * 2, 64)
            apart(prepare, folder / "log.npz", size, delivery)
            for kernel in KERNELS:
                results.append({"delivery": delivery, **apart(measure, folder / "log.npz", kernel)})
                say(f"streams: {results[-1]}")
    (folder / "log.npz").unlink()
    late = [row for row in results if row["delivery"] != "random feed" and row["kernel"] == "fixed"]
    bytes_ = round(late[-1]["bytes_per_event"] / late[0]["bytes_per_event"], 2)
    exponent = power([row["events"] for row in late], [row["cpu_s"] for row in late])
    judged = options.scale == 1
    return results, [
        at_most(
            f"fixed slots: bytes an event of {late[-1]['events']:,} / of {late[0]['events']:,} events",
            CONSTANT,
            bytes_,
            judged,
        ),
        at_most("fixed slots: power of the size with which CPU seconds grow, aim", POWER, exponent, judged),
    ]


def prepare(path: Path, size: int, delivery: str) -> None:
    """Write a log as arrays."""
    rng = np.random.default_rng([1, size])
    log = events.append(size, FEEDS, rng)
    deliver = events.deliver_by_feed if delivery == "random feed" else partial(events.deliver_late, bound=LATE)
    made = events.named(log, deliver(log, rng=rng), rng)
    np.savez(path, start=made.cause_start, cause=made.cause, arrived=made.arrived)


def measure(path: Path, kernel: str) -> dict:
    """Order a log with a kernel; return the figures of this process."""
    with np.load(path) as arrays:
        start, cause, arrived = arrays["start"], arrays["cause"], arrays["arrived"]
    call(kernel, *inputs(kernel, np.array([0, 0, 1]), np.zeros(1, np.int32), np.arange(2, dtype=np.int32)))
    given = inputs(kernel, start, cause, arrived)
    del start, cause
    Path("/proc/self/clear_refs").write_text("5")  # The peak starts again.
    before, begun = memory("VmRSS"), time.process_time()
    figures = call(kernel, *given)
    spent = time.process_time() - begun
    gained = memory("VmHWM") - before + sum(array.nbytes for array in given)
    return {
        "kernel": kernel,
        "events": len(arrived),
        "cpu_s": round(spent, 2),
        "events_per_cpu_s": round(len(arrived) / max(spent, 1e-6)),
        "bytes_per_event": round(gained / len(arrived), 1),
        **figures,
    }


def inputs(kernel: str, start: np.ndarray, cause: np.ndarray, arrived: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the arrays that a kernel takes."""
    if kernel == "fixed":
        return keep_two_causes(start, cause)[0], arrived
    whole = np.array([0, len(arrived)])
    return whole, start, cause, arrived, np.arange(len(arrived)), np.zeros(1, np.int64)


def call(kernel: str, *given: np.ndarray) -> dict[str, float]:
    """Run a kernel; return the work for an event, on average and at most."""
    if kernel == "full":
        commands = edit_stream(*given)
        return {"moved": round(float((commands.taken >= 0).sum() / len(given[3])), 2)}
    work = order_stream(*given).work
    mean, most = work.mean(axis=0).round(2).tolist(), work.max(axis=0).tolist()
    return dict(zip(WORK, mean, strict=True)) | {f"{what}_max": n for what, n in zip(WORK, most, strict=True)}


def memory(figure: str) -> int:
    """Return a figure of this process, in bytes: `VmRSS` is its memory, `VmHWM` its peak."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[figure].split()[0]) * 1024
