"""CPU seconds of `walk_graphs` and of its steps, on the shapes of `shapes.py`.

Usage: python bench/graph_kernel.py [--scale 1.0] [--repeat 3] [shape ...]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph import ancestor_pairs, author_clocks, walk, walk_graphs
from shapes import shape

STEPS = (
    "strings_of",
    "lists_of",
    "group_rows",
    "number_nodes",
    "link",
    "children",
    "levels",
    "set_aside_codes",
    "positions",
    "thread_positions",
    "renumber",
    "redundant_edges",
    "child_counts",
    "_redundant_previous",
)
BATCH_ROWS = 10_000


def timed(step: Callable, spent: dict[str, float], name: str) -> Callable:
    """Wrap a function so that its CPU seconds are added up under a name."""

    def wrapped(*args, **kwargs):
        before = time.process_time()
        try:
            return step(*args, **kwargs)
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - before

    return wrapped


def measure(table: pa.Table, repeat: int) -> dict[str, float]:
    """Walk a table a few times, and keep the steps of the fastest run."""
    runs = []
    for _ in range(repeat):
        spent: dict[str, float] = {}
        with ExitStack() as stack:
            for name in STEPS:
                stack.enter_context(patch.object(walk, name, timed(getattr(walk, name), spent, name)))
            timed(walk_graphs, spent, "all")(table)
        runs.append(spent)
    return min(runs, key=lambda spent: spent["all"])


def drained(batches) -> int:
    """Count the rows of all batches."""
    return sum(len(batch) for batch in batches)


def main() -> None:
    """Measure the shapes asked for, one line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=1_000, help="members up to which ancestors are listed")
    parser.add_argument("--max-rows", type=int, default=20_000_000, help="of the clocks of one tangle")
    parser.add_argument("shapes", nargs="*", default=["W", "D", "M", "chain", "dense", "fan", "ladder"])
    arguments = parser.parse_args()
    walk_graphs(shape("W", 0.001))  # Compiles what is not compiled yet.
    for name in arguments.shapes:
        table = shape(name, arguments.scale)
        # Spark hands a partition over in small batches.
        table = pa.Table.from_batches(table.to_batches(BATCH_ROWS))
        spent = measure(table, arguments.repeat)
        answer = walk_graphs(table)
        members = table.append_column("depth", answer["depth"]).filter(pc.is_valid(answer["depth"]))
        result = {
            "shape": name,
            "rows": len(table),
            "listed": pc.sum(pc.list_value_length(table["previous"])).as_py(),
            "members": len(members),
            "depth": pc.max(answer["depth"]).as_py(),
            "redundant": pc.sum(pc.list_value_length(answer["redundant_previous"])).as_py(),
            "cpu_s": {step: round(seconds, 3) for step, seconds in sorted(spent.items(), key=lambda item: -item[1])},
        }
        for kind, batches in (
            ("ancestors", ancestor_pairs(members, arguments.limit)),
            ("clocks", author_clocks(members, arguments.limit, arguments.max_rows)),
        ):
            before = time.process_time()
            result[kind] = {"rows": drained(batches), "cpu_s": round(time.process_time() - before, 3)}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
