"""The reduction of sets that grow as tangles: CPU seconds of the kernel, next to the peer's algorithm, and in Spark.

In this process, measured in turns:

kernel  `reduce_sets` of one set of `pzp_sets.py`: order, items, messages still needed, and faults of writers.
peer    the same beside the peer's algorithm for the items alone. `pzp_peer.js` is our own JavaScript after a
        description of that algorithm; the peer's package is not used. Without node, this comparison is left out.

In Spark, the model `int_set_messages`, validity included, next to LIMIT (`bench.limit`).
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bench import pzp_peer, pzp_sets, session
from bench.cpu import Watch
from bench.in_spark import ModelInSpark, Part, kernel_seconds, run_parts, shuffled, stored
from bench.report import at_least, at_most, say
from bench.turns import in_turns, power
from dbt_tangles.algorithms.set import reduce_sets
from dbt_tangles.algorithms.set.reduction import GHOST_SPAN
from dbt_tangles.algorithms.set.set_batches import INPUT_SCHEMA, reduce_set_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "sets"
SIZES = (10_000, 50_000, 500_000)
GROWTH_GOAL = 1.15  # linear is 1; data beyond the processor's caches take longer
PEER_MESSAGES = 10_000
PEER_GOAL = 100.0  # times the kernel's CPU seconds
QUOTED_MS = 2_570  # for the items of a set of that size, measured elsewhere; context only
SPARK_GOAL = 2.0  # the model / the limit, for many sets; a single set keeps only one worker busy
SHAPES = {"one": (1, 500_000), "many": (100_000, 10)}  # sets, and messages of each
LEAST = 64  # messages of a set at a small scale


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    reduce_sets(pzp_sets.table(1, LEAST))  # compiles the kernel
    judged = {name: "many: int_set_messages" if name == "many" else None for name in SHAPES}
    return run_parts(options, NAME, (kernel_alone, beside_the_peer), InSpark, judged, SPARK_GOAL)


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


class InSpark(ModelInSpark):
    """Entries of sets, judged and reduced in a session."""

    def __init__(self, name: str, scale: float, spark: SparkSession, watch: Watch) -> None:
        """Prepare the files."""
        self.name, self.folder = name, stored(NAME, name, scale, lambda: {".": entries(name, scale)})
        self.rows: DataFrame = spark.read.parquet(str(self.folder))
        refs = {"int_set_entries": self.rows}
        needs = lambda: [(self.rows.select(INPUT_SCHEMA.names), ["set_id"])]  # noqa: E731
        super().__init__(spark, watch, "int_set_messages", refs, needs)

    def measure(self, repeats: int) -> dict:
        """Measure the model and its LIMIT in turns; return the figures."""
        self.warm_up()
        facts = self.facts()
        measured = self.beside_limit(repeats, f"sets {self.name}", "reduce")
        kernel = partial(reduce_set_batches, ghost_span=GHOST_SPAN, is_trusted=False)
        alone = kernel_seconds(self.folder, INPUT_SCHEMA.names, kernel, repeats)
        say(f"sets {self.name}: ratio {measured['ratio']}; kernel alone, validity included: {alone} CPU seconds")
        return {"part": "spark", "shape": self.name, **facts, **measured, "kernel_alone_cpu_s": alone}

    def facts(self) -> dict:
        """Count the rows that the model wrote, all of which must be valid.

        Raises:
            RuntimeError: Messages are invalid or missing.
        """
        counted = self.spark.sql(
            f"select count(*) as messages, count(distinct set_id) as sets, max(depth) as depth, "
            f"sum(size(items)) as items, sum(size(writer_faults)) as writer_faults, "
            f"count_if(not is_valid) as invalid, count_if(not are_writers_checked) as unchecked "
            f"from {session.SCHEMA}.found"
        )
        found = counted.first().asDict()
        if found.pop("invalid") or found["messages"] != self.rows.count():
            raise RuntimeError(f"sets {self.name}: messages are invalid or missing: {found}; check `pzp_sets`")
        return found
