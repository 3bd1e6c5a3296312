"""The order of Autobase's bases and its settled prefix: CPU seconds of the kernel.

Measured in turns, without an engine:

kernel   Depths, clocks and `order_views` of a base of `autobase_bases.py`, whose writers hear of each other with some
         delay, so nearly all nodes are settled; at one size beside quoted seconds of the peer, whose package is not
         used.
stalled  the same for bases with endless forks, whose nodes are never settled.
"""

import random
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from bench import autobase_bases
from bench.report import Goal, Part, at_least, at_most, run_parts, say
from bench.turns import in_turns, power
from dbt_tangles.algorithms.autobase.base_graphs import Graphs, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.consensus import order_views

NAME = "autobase"
QUOTED_S = {3: 2.6, 5: 11.2, 9: 49.6}  # the peer's CPU seconds by indexers, measured elsewhere
QUOTED_NODES = 10_000
QUOTED_GOAL = 20.0  # times the kernel's
GROWTH_SIZES = (50_000, 500_000)
GROWTH_INDEXERS = (3, 9)
GROWTH_GOAL = 1.15  # linear is 1; data beyond the processor's caches take longer
STALLED_SIZES = (2_500, 5_000, 10_000, 20_000)
STALLED_INDEXERS = 5
STALLED: dict[str, Callable[[int, int], Iterator]] = {"rounds": autobase_bases.rounds, "acked": autobase_bases.acked}
STALLED_GOAL = 1.3  # n log n is 1.1
LEAST = 20  # nodes of a base at a small scale
BASES, NODES, WRITERS, INDEXERS = 10_000, 20, 4, 3  # beside LIMIT


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    order(settling(LEAST, 3))  # compiles the kernel
    return run_parts(options, kernel_alone, stalled)


def order(graphs: Graphs) -> tuple[int, int]:
    """Order a base; return the number of its nodes, and of the settled ones."""
    bases = with_clocks(index_graphs(graphs), 0, 1)
    (_, nodes), _, (settled,) = order_views(bases, np.zeros(1, np.int64), np.full(1, -1))
    return int(nodes), int(settled)


def settling(count: int, indexers: int) -> Graphs:
    """Make a base whose nodes are nearly all settled; all writers are indexers."""
    return autobase_bases.arrays(autobase_bases.gossip(count, indexers, random.Random(1)), indexers)


def timed(part: str, views: list[Graphs], repeats: int) -> list[dict]:
    """Measure the order of each view, in turns."""
    seconds = in_turns(repeats, *(partial(order, view) for view in views))
    results = []
    for view, spent in zip(views, seconds, strict=True):
        nodes, settled = order(view)
        row = {"part": part, "indexers": int(view.indexer_start[-1]), "nodes": nodes, "settled": settled}
        results.append({**row, "edges": len(view.previous), "cpu_s": round(spent, 5)})
        say(f"autobase: {results[-1]}")
    return results


def kernel_alone(scale: float, repeats: int) -> Part:
    """Measure one view beside the quoted seconds, and how its time grows with its nodes."""
    results, goals = [], []
    views = [settling(max(int(QUOTED_NODES * scale), LEAST), indexers) for indexers in QUOTED_S]
    for row in timed("kernel", views, repeats):
        if scale == 1:
            quoted = QUOTED_S[row["indexers"]]
            row |= {"quoted_cpu_s": quoted, "ratio_to_quoted": round(quoted / row["cpu_s"])}
            what = f"{row['indexers']} indexers, {QUOTED_NODES:,} nodes: CPU seconds quoted of the peer / ours"
            goals.append(at_least(what, QUOTED_GOAL, row["ratio_to_quoted"]))
        results.append(row)
    for indexers in GROWTH_INDEXERS:
        views = [settling(max(int(size * scale), LEAST), indexers) for size in GROWTH_SIZES]
        rows, goal = growth("kernel", f"{indexers} indexers", views, GROWTH_SIZES, GROWTH_GOAL, scale, repeats)
        results += rows
        goals.append(goal)
    return results, goals


def stalled(scale: float, repeats: int) -> Part:
    """Measure how the time for one view grows if nodes are never settled."""
    results, goals = [], []
    for shape, write in STALLED.items():
        sizes = [max(int(size * scale), LEAST) for size in STALLED_SIZES]
        views = [autobase_bases.arrays(write(size, STALLED_INDEXERS), STALLED_INDEXERS) for size in sizes]
        label = f"stalled ({shape}), {STALLED_INDEXERS} indexers"
        rows, goal = growth("stalled", label, views, STALLED_SIZES, STALLED_GOAL, scale, repeats)
        if any(row.get("settled") for row in rows):
            raise RuntimeError(
                f"stalled ({shape}): nodes are settled, but none should be: {rows}; check `autobase_bases`"
            )
        results += [{"shape": shape, **row} for row in rows]
        goals.append(goal)
    return results, goals


def growth(
    part: str,
    label: str,
    views: list[Graphs],
    full_sizes: tuple[int, ...],
    limit: float,
    scale: float,
    repeats: int,
) -> tuple[list[dict], Goal]:
    """Measure views of one kind, the smallest first; return the figures, and the goal for the power of the nodes."""
    rows = timed(part, views, repeats)
    found = power((row["nodes"] for row in rows), (row["cpu_s"] for row in rows))
    what = f"{label}, {full_sizes[0]:,} to {full_sizes[-1]:,} nodes: power of the nodes with which CPU seconds grow"
    rows.append({"part": f"{part}_growth", "indexers": rows[0]["indexers"], "power": found})
    return rows, at_most(what, limit, found, scale == 1)


def members(scale: float) -> pa.Table:
    """Make the rows of `int_autobase_members` with the columns that the models need."""
    return autobase_bases.table(max(int(BASES * scale), 1), NODES, WRITERS, INDEXERS)
