"""Membership, depth, orders and redundant links of tangles: CPU seconds of the kernel, without an engine.

The tangles are the timelines of `events.py`: `one` of 524,288 messages and 64 authors, or `many` of 5 to 20 messages.
"""

from argparse import Namespace
from statistics import median

import numpy as np
import pyarrow as pa

from bench import events, session
from bench.events import Timelines
from bench.report import Part, at_most, say
from bench.turns import seconds_of
from dbt_tangles.algorithms.graph.walk import walk
from dbt_tangles.formats.ssb.graphs import TANGLE_NAMES
from dbt_tangles.formats.ssb.ids import sigil

NAME = "graphs"
SHAPES = ("one", "many")
EVENTS, FEEDS, SMALL_TANGLES = 524_288, 64, 100_000
GOAL_S = 2.0
START = 1_600_000_000_000.0


def nodes(name: str, scale: float) -> pa.Table:
    """Make `one` tangle or `many`: the rows of `walk.Candidate` with authors and sequences, in random order."""
    rng = np.random.default_rng(1)
    if name == "one":
        log = events.append(max(int(EVENTS * scale) // 2 * 2, 2 * FEEDS), FEEDS, rng)
        author, made = log.feed, events.numbered(log)
    else:
        made = events.small_timelines(max(int(SMALL_TANGLES * scale), 1), rng)
        author = rng.integers(0, 1_000, len(made.cause_start) - 1)
    return _table(_with_one_root(made), author, rng)


def _with_one_root(made: Timelines) -> Timelines:
    """Link all events without causes to the first such event of their timeline."""
    sizes, listed = np.diff(made.event_start), np.diff(made.cause_start)
    timeline = np.repeat(np.arange(len(sizes)), sizes)
    first = np.flatnonzero(listed == 0)
    root = first[np.unique(timeline[first], return_index=True)[1]]
    others = np.setdiff1d(first, root)
    owner = np.concatenate([np.repeat(np.arange(len(listed)), listed), others])
    cause = np.concatenate([made.cause, root[timeline[others]]])[np.argsort(owner, kind="stable")]
    listed[others] = 1
    return made._replace(cause_start=np.concatenate([[0], np.cumsum(listed)]), cause=cause)


def _table(made: Timelines, author: np.ndarray, rng: np.random.Generator) -> pa.Table:
    count, sizes, listed = len(author), np.diff(made.event_start), np.diff(made.cause_start)
    is_root = listed == 0
    ids = pa.array([sigil(rng.bytes(32)) for _ in range(count)], pa.string())
    offsets = pa.array(made.cause_start.astype(np.int32))
    asserted = START + 60_000.0 * (np.arange(count) + rng.normal(0, 20, count)).round()
    order = np.argsort(author, kind="stable")
    sequence = np.empty(count, np.int32)
    sequence[order] = np.arange(count) - np.repeat(*_starts(author[order])) + 1
    table = pa.table(
        {
            "graph_kind": pa.repeat("thread", count),
            "graph_id": ids.take(pa.array(np.repeat(np.flatnonzero(is_root), sizes))),
            "node_id": ids,
            "previous": pa.ListArray.from_arrays(offsets, ids.take(pa.array(made.cause)), mask=pa.array(is_root)),
            "is_root": pa.array(is_root),
            "claim_error": pa.nulls(count, pa.string()),
            "asserted_ms": pa.array(asserted),
            "received_ms": pa.array(asserted + rng.exponential(30_000, count).round()),
            "author": pa.array([f"@{a:043d}=.ed25519" for a in range(author.max() + 1)]).take(pa.array(author)),
            "sequence": pa.array(sequence),
        }
    )
    return table.take(pa.array(rng.permutation(count))).combine_chunks()


def _starts(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each run of equal keys, and the lengths of the runs."""
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return first, np.diff(first, append=len(keys))


def candidates(name: str, scale: float, columns: list[str]) -> pa.Table:
    """Make tangles in the columns of `int_tangle_candidates`."""
    table = nodes(name, scale)
    return table.rename_columns([TANGLE_NAMES.get(column, column) for column in table.column_names]).select(columns)


def run(options: Namespace) -> Part:
    """Measure the shapes; return the figures of each, and the goals."""
    results, goals = [], []
    for name in SHAPES:
        table = nodes(name, options.scale)
        batches = table.to_batches(session.batch_rows())

        def work(batches: list[pa.RecordBatch] = batches) -> None:
            for _ in walk(batches):
                pass

        work()
        spent = round(median(seconds_of(work) for _ in range(options.repeats)), 2)
        say(f"graphs {name}: {len(table):,} messages: {spent} CPU seconds")
        results.append({"shape": name, "messages": len(table), "cpu_s": spent})
        goals.append(at_most(f"{name}: CPU seconds", GOAL_S, spent, options.scale == 1))
    return results, goals
