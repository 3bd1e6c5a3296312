"""The reduction of sets that grow as tangles: CPU seconds of the kernel, next to the peer's algorithm.

Measured in turns, without an engine:

kernel  `reduce_sets` of one set of `pzp_sets.py`: order, items, messages still needed, and faults of writers.
peer    the same beside the peer's algorithm for the items alone. `pzp_peer.js` is our own JavaScript after a
        description of that algorithm; the peer's package is not used. Without node, this comparison is left out.
"""

from argparse import Namespace
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from bench import pzp_peer, pzp_sets
from bench.report import Part, at_least, at_most, run_parts, say
from bench.turns import in_turns, power
from dbt_tangles.algorithms.set import reduce_sets

NAME = "sets"
SIZES = (10_000, 50_000, 500_000)
GROWTH_GOAL = 1.15  # linear is 1; data beyond the processor's caches take longer
PEER_MESSAGES = 10_000
PEER_GOAL = 100.0  # times the kernel's CPU seconds
QUOTED_MS = 2_570  # for the items of a set of that size, measured elsewhere; context only
SHAPES = {"one": (1, 500_000), "many": (100_000, 10)}  # sets, and messages of each
LEAST = 64  # messages of a set at a small scale


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    reduce_sets(pzp_sets.table(1, LEAST))  # compiles the kernel
    return run_parts(options, kernel_alone, beside_the_peer)


def shuffled(table: pa.Table) -> pa.Table:
    """Put rows in a random order, always the same one."""
    return table.take(pa.array(np.random.default_rng(4).permutation(len(table)))).combine_chunks()


def one_set(count: int) -> pa.Table:
    """Make one set, in the order of writing."""
    return pzp_sets.table(1, max(count, LEAST))


def kernel_alone(scale: float, repeats: int) -> Part:
    """Measure how the time for one set grows with its messages."""
    results = []
    sets = [shuffled(one_set(int(full * scale))) for full in SIZES]
    seconds = in_turns(repeats, *(lambda table=table: reduce_sets(table) for table in sets))
    for table, spent in zip(sets, seconds, strict=True):
        count = len(table)
        say(f"sets: one of {count:,} messages: {spent:.4f} CPU seconds")
        row = {"part": "kernel", "messages": count, "cpu_s": round(spent, 4)}
        results.append({**row, "messages_per_cpu_s": round(count / max(spent, 1e-6))})
    found = power(map(len, sets), seconds)
    results.append({"part": "growth", "power": found})
    what = f"{SIZES[0]:,} to {SIZES[-1]:,} messages: power of the size with which CPU seconds grow"
    return results, [at_most(what, GROWTH_GOAL, found, scale == 1)]


def items_of(table: pa.Table, answer: pa.Table) -> list[str]:
    """Return the items of one set, in their order."""
    listed = [item for items in answer["items"].to_pylist() for item in items or ()]
    return [item["item"] for item in sorted(listed, key=lambda item: item["item_position"])]


def beside_the_peer(scale: float, repeats: int) -> Part:
    """Measure one set in turns with the peer's algorithm."""
    if pzp_peer.node() is None:
        say("sets: node is not on the PATH, so the comparison with the peer's algorithm is left out")
        return [{"part": "peer", "left_out": "no node on the PATH"}], []
    written = one_set(int(PEER_MESSAGES * scale))
    asked, table = pzp_peer.question(written), shuffled(written)
    found: list[pzp_peer.Run] = []
    ours_s, _ = in_turns(repeats, lambda: reduce_sets(table), lambda: found.append(pzp_peer.run(asked)))
    if found[0].items != items_of(table, reduce_sets(table)):
        raise RuntimeError(
            f"one set of {len(table):,} messages: the peer's algorithm finds other items than the kernel"
        )
    peer_s, count = median(each.cpu_s for each in found), len(table)
    told: dict[str, Any] = {
        "messages": count,
        "items": len(found[0].items),
        "cpu_s": round(ours_s, 5),
        "peer_cpu_s": round(peer_s, 4),
        "ratio": round(peer_s / ours_s, 1),
    }
    if scale == 1:
        told["quoted_cpu_s"] = QUOTED_MS / 1_000
        told["ratio_to_quoted"] = round(QUOTED_MS / 1_000 / ours_s, 1)
    say(f"sets: one of {count:,} messages next to {pzp_peer.WHAT}: {told}")
    what = f"{count:,} messages: CPU seconds of {pzp_peer.WHAT} / ours"
    result = {"part": "peer", "peer": pzp_peer.WHAT, "node": pzp_peer.node_version(), **told}
    return [result], [at_least(what, PEER_GOAL, told["ratio"], scale == 1)]


def entries(name: str, scale: float) -> pa.Table:
    """Make the rows of `int_set_entries`: `one` set, or `many` small ones."""
    sets, messages = SHAPES[name]
    if sets == 1:
        return one_set(int(messages * scale))
    return pzp_sets.table(max(int(sets * scale), 1), messages)
