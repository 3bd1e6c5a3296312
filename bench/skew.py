"""One tangle that holds a third of a log: the memory and time of its one task in Python, without an engine.

A tangle is computed in one task, so more workers or partitions do not help. Each kernel runs in a process of its own,
which reads the tangle as a worker does, in batches from a stream, and discards its rows.
"""

import multiprocessing
import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.cpu import peak_mib
from bench.report import RESULTS, Goal, at_most, say
from dbt_tangles.algorithms.graph.graph_batches import clocks_of_partition, walk_partition
from dbt_tangles.algorithms.graph.walk import WALK_INPUT_SCHEMA
from dbt_tangles.algorithms.timeline.schemas import INPUT_SCHEMA
from dbt_tangles.algorithms.timeline.timeline_batches import order_of_partition

NAME = "skew"
#: The messages of the tangle, a third of a log's.
SIZES = {
    "int_tangle_levels": (1_000_000, 4_000_000),
    "int_tangle_clocks": (1_000_000, 4_000_000),
    "int_timeline_order": (1_000_000, 4_000_000),
}
WARMING = 1_500  # a first round, which compiles the kernels
WHOLE_D = 524_288  # the messages of the shape
BATCH_ROWS = 4096  # spark.sql.execution.arrow.maxRecordsPerBatch in profiles.yml
EXPONENT = 1.15

#: The kernels by model, with the vars' defaults, but without edit scripts: their cost depends on the order of arrival,
#: which `timelines` measures, and a tangle of more than `edit_limit` messages gets no script.
KERNELS = {
    "int_tangle_levels": partial(walk_partition, rows_in_memory=1_000_000),
    "int_tangle_clocks": partial(clocks_of_partition, limit=1000, max_rows=100_000_000),
    "int_timeline_order": partial(order_of_partition, batch_size=0, edit_limit=0, rows_in_memory=1_000_000),
}


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure each kernel at each size; return the figures, and the growth of seconds and memory."""
    folder = RESULTS / NAME
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for kernel, sizes in SIZES.items():
        for size in [WARMING, *(int(size * options.scale) for size in sizes)]:
            apart(prepare, folder, size, kernel)
            result = apart(measure, folder, size, kernel)
            if size == WARMING:
                continue
            results.append(result)
            say(f"skew {kernel}, {size:,} messages: {result['cpu_s']} CPU s, {result['peak_mib']} MiB")
    goals = []
    for kernel in KERNELS:
        small, large = [result for result in results if result["kernel"] == kernel]
        for figure in ("cpu_s", "peak_mib"):
            ratio = large[figure] / max(small[figure], 0.01)
            exponent = round(float(np.log(ratio) / np.log(large["messages"] / small["messages"])), 2)
            goals.append(at_most(f"{kernel}: exponent of {figure}", EXPONENT, exponent, options.scale == 1))
    return results, goals


def apart(function, *arguments):
    """Call a function in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def prepare(folder: Path, size: int, kernel: str) -> None:
    """Write a tangle as the stream that a kernel's worker reads."""
    from bench.shapes import shape
    from dbt_tangles.algorithms.graph.walk import walk_graphs

    table = shape("D", size / WHOLE_D)
    if kernel == "int_timeline_order":
        table = arrivals_of(table)
    elif kernel == "int_tangle_levels":
        table = table.select([*WALK_INPUT_SCHEMA.names, "author", "sequence"])
        table = table.append_column("known_depth", pa.nulls(len(table), pa.int32()))
    else:
        table = table.append_column("depth", walk_graphs(table)["depth"])
        table = table.select([*WALK_INPUT_SCHEMA.names[:4], "depth", "author", "sequence"])
    path = folder / f"{kernel}.arrows"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=BATCH_ROWS)


def arrivals_of(candidates: pa.Table) -> pa.Table:
    """Return the tangle as a timeline that arrives in the order of the rows; the first listed message is the feed's."""
    lists = candidates["previous"]
    # Empty lists and not nulls: a column of null lists has one buffer, which the stream repeats in each batch.
    nothing = pc.list_slice(lists, 0, 0).cast(lists.type)
    known = {
        "cause_kinds": _kinds(lists),
        "left_out_causes": nothing,
        "timeline_id": candidates["graph_id"],
        "event_id": candidates["node_id"],
        "causes": candidates["previous"],
        "author": candidates["author"],
        "arrival": pa.array(np.arange(len(candidates))),
        "is_tangle": pa.array(np.ones(len(candidates), bool)),
    }
    columns = [
        known[field.name].cast(field.type) if field.name in known else pa.nulls(len(candidates), field.type)
        for field in INPUT_SCHEMA
    ]
    return pa.table(columns, schema=INPUT_SCHEMA)


def _kinds(lists: pa.Array) -> pa.Array:
    """Return the kinds of listed causes: the first of each list comes before in the feed, too."""
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).fill_null(0).to_numpy())]).astype(np.int32)
    kinds = np.full(offsets[-1], "tangle", object)
    kinds[offsets[:-1][np.diff(offsets) > 0]] = "both"
    return pa.ListArray.from_arrays(offsets, pa.array(kinds, pa.string()))


def batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    """Read a stream of Arrow batches, each into memory of its own."""
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as stream:
        yield from stream


def measure(folder: Path, size: int, kernel: str) -> dict:
    """Run a kernel; return the figures of this process."""
    path = folder / f"{kernel}.arrows"
    before, begun = time.process_time(), time.monotonic()
    rows = sum(len(batch) for batch in KERNELS[kernel](batches_of(path)))
    return {
        "kernel": kernel,
        "messages": size,
        "rows": rows,
        "cpu_s": round(time.process_time() - before, 2),
        "wall_s": round(time.monotonic() - begun, 2),
        "peak_mib": peak_mib(),
        "stream_mib": path.stat().st_size >> 20,
    }
