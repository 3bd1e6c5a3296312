"""The graph kernels as functions over the Arrow batches of a Spark partition of whole graphs."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.ancestors import ancestor_pairs
from dbt_tangles.algorithms.graph.causes import root_causes
from dbt_tangles.algorithms.graph.clocks import author_clocks
from dbt_tangles.algorithms.graph.walk import DEPTH_SCHEMA, WALK_OUTPUT_SCHEMA, walk_graphs
from dbt_tangles.kernel_runtime.arrow_batches import append_columns, append_reasons, collect
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT, GroupBuffer, group_counts
from dbt_tangles.reasons import TangleReason

GRAPH = DEPTH_SCHEMA.names[:2]
#: Up to this many rows are buffered before graphs are counted.
UNCOUNTED_ROWS = 1_000_000
#: Rows per batch returned to Spark; each row has up to `causes.MOST_CAUSES` ids.
CAUSES_PER_BATCH = 5_000


def walk_partition(
    batches: Iterator[pa.RecordBatch], graph_limit: int = NO_LIMIT, rows_in_memory: int = NO_LIMIT
) -> Iterator[pa.RecordBatch]:
    """Append the columns of `walk_graphs` to the candidates of a partition.

    Args:
        batches: Candidates. If there is a column `known_depth`, a row with a value is not a candidate: it gives the
            depth of the member that it names. A graph has such rows for all members or none.
        graph_limit: A graph with more candidates is not walked: all its candidates are set aside as `tangle_too_large`.
        rows_in_memory: Maximum number of candidates in memory; the rest waits on disk during the walk.

    Raises:
        ValueError: As `walk_graphs`.
    """
    held = GroupBuffer(GRAPH, graph_limit, rows_in_memory)
    depths = []
    for batch in batches:
        if "known_depth" in batch.schema.names:
            is_known = batch["known_depth"].is_valid()
            if batch["known_depth"].null_count < len(batch):
                known = batch.filter(is_known).select([*DEPTH_SCHEMA.names[:3], "known_depth"])
                depths.append(known.rename_columns(DEPTH_SCHEMA.names))
                batch = batch.filter(pc.invert(is_known))
            batch = batch.drop_columns("known_depth")
        yield from _too_large(held.add_rows(batch))
    yield from _too_large(held.pop_large())
    if held.rows is None:
        return
    if held.has_large:
        depths = [held.split(known)[1] for known in depths]
    places = walk_graphs(held.rows, depths=pa.Table.from_batches(depths) if any(map(len, depths)) else None)
    del depths
    yield from append_columns(held.rows.to_batches(), places, WALK_OUTPUT_SCHEMA)


def _too_large(candidates: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Set all candidates aside as `tangle_too_large`; rows with a claim error keep that reason."""
    return append_reasons(
        candidates, WALK_OUTPUT_SCHEMA, "set_aside_reason", "claim_error", TangleReason.TANGLE_TOO_LARGE.value
    )


def causes_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the nodes of a partition that are in the log and set aside, with `root_causes` as `blocked_by`."""
    table = collect(batches)
    if table is None:
        return
    table = table.append_column("blocked_by", root_causes(table)).filter(pc.invert(table["is_missing"]))
    for batch in table.select(["graph_kind", "graph_id", "node_id", "blocked_by"]).to_batches(CAUSES_PER_BATCH):
        yield batch.set_column(3, "blocked_by", batch["blocked_by"].cast(pa.list_(pa.string())))


def within_pair_limit(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    """Drop the rows of graphs with more members than the limit for ancestor pairs, before all rows are in memory.

    Below `UNCOUNTED_ROWS` rows in total, all rows pass.
    """
    return _without_large(batches, GroupBuffer(GRAPH, limit, uncounted_rows=UNCOUNTED_ROWS))


def within_clock_limit(batches: Iterator[pa.RecordBatch], max_rows: int) -> Iterator[pa.RecordBatch]:
    """Drop the rows of graphs where members * authors exceeds the limit for clocks, before all rows are in memory.

    Below `UNCOUNTED_ROWS` rows in total, all rows pass.
    """
    return _without_large(batches, _ClockBuffer(GRAPH, max_rows, uncounted_rows=UNCOUNTED_ROWS))


class _ClockBuffer(GroupBuffer):
    """Measures a graph by members * authors; a graph without authors has size 0."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self._authors: dict[tuple, set] = defaultdict(set)

    def count(self, batch: pa.RecordBatch) -> None:
        super().count(batch)
        known = batch.filter(pc.and_(batch["author"].is_valid(), batch["sequence"].is_valid()))
        for (*graph, author), _ in group_counts(known, [*self.keys, "author"]):
            self._authors[tuple(graph)].add(author)

    def is_large(self, key: tuple) -> bool:
        return self.counts[key] * len(self._authors[key]) > self.limit


def _without_large(batches: Iterator[pa.RecordBatch], held: GroupBuffer) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        deque(held.add_rows(batch), 0)
    deque(held.pop_large(), 0)
    if held.rows is not None:
        yield from held.rows.to_batches()


def ancestors_of_partition(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    """Yield `ancestor_pairs` of the members in a partition."""
    yield from _chunks(within_pair_limit(batches, limit), lambda members: ancestor_pairs(members, limit))


def clocks_of_partition(batches: Iterator[pa.RecordBatch], limit: int, max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield `author_clocks` of the members in a partition."""
    yield from _chunks(within_clock_limit(batches, max_rows), lambda members: author_clocks(members, limit, max_rows))


def _chunks(batches: Iterator[pa.RecordBatch], kernel: Callable) -> Iterator[pa.RecordBatch]:
    members = collect(batches)
    if members is not None:
        for chunk in kernel(members):
            yield from chunk.to_batches() if isinstance(chunk, pa.Table) else [chunk]
