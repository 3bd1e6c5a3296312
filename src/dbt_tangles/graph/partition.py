"""The graph kernels as functions over the batches of a Spark partition that holds whole graphs."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.graph.ancestors import ancestor_pairs
from dbt_tangles.graph.causes import root_causes
from dbt_tangles.graph.clocks import author_clocks
from dbt_tangles.graph.walk import DEPTH_SCHEMA, WALK_OUTPUT_SCHEMA, walk_graphs
from dbt_tangles.held import NO_LIMIT, Held
from dbt_tangles.partition import collect

#: Rows with up to `causes.MOST_CAUSES` ids each go back to Spark in batches of so many.
CAUSES_PER_BATCH = 5_000


def levels_of_partition(
    batches: Iterator[pa.RecordBatch], graph_limit: int = NO_LIMIT, rows_in_memory: int = NO_LIMIT
) -> Iterator[pa.RecordBatch]:
    """Append `walk_graphs`' columns to the candidates of a partition.

    Args:
        batches: Candidates. Where there is a column `known_depth`, a row that has one is no candidate, but says that
            depth of the one that it names.
        graph_limit: A graph of more candidates is not walked: they are all set aside, for `tangle_too_large`.
        rows_in_memory: How many candidates may be in memory; more of them wait on disk while the graphs are walked.

    Raises:
        ValueError: what `walk_graphs` raises.
    """
    held = Held(DEPTH_SCHEMA.names[:2], graph_limit, rows_in_memory)
    depths = []
    for batch in batches:
        if "known_depth" in batch.schema.names:
            is_known = batch["known_depth"].is_valid()
            if batch["known_depth"].null_count < len(batch):
                known = batch.filter(is_known).select([*DEPTH_SCHEMA.names[:3], "known_depth"])
                depths.append(known.rename_columns(DEPTH_SCHEMA.names))
                batch = batch.filter(pc.invert(is_known))
            batch = batch.drop_columns("known_depth")
        yield from map(_too_large, held.take(batch))
    yield from map(_too_large, held.give_up())
    if held.rows is None:
        return
    if held.has_large:
        depths = [held.split(known)[1] for known in depths]
    places = walk_graphs(held.rows, depths=pa.Table.from_batches(depths) if any(map(len, depths)) else None)
    del depths
    begin = 0
    for batch in held.rows.to_batches():
        yield _with_columns(batch, places.slice(begin, len(batch)))
        begin += len(batch)


def _too_large(candidates: pa.RecordBatch) -> pa.RecordBatch:
    """Set all candidates aside, for their graph is too large, unless they are none."""
    columns = [pa.nulls(len(candidates), field.type) for field in WALK_OUTPUT_SCHEMA]
    reason = WALK_OUTPUT_SCHEMA.get_field_index("set_aside_reason")
    columns[reason] = candidates["claim_error"].cast(pa.string()).fill_null("tangle_too_large")
    return _with_columns(candidates, pa.table(columns, schema=WALK_OUTPUT_SCHEMA))


def _with_columns(batch: pa.RecordBatch, table: pa.Table) -> pa.RecordBatch:
    columns = [*batch.columns, *(column.combine_chunks() for column in table.columns)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema([*batch.schema, *table.schema]))


def causes_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the nodes of a partition that are there and set aside, with `root_causes` as `blocked_by`."""
    table = collect(batches)
    if table is None:
        return
    table = table.append_column("blocked_by", root_causes(table)).filter(pc.invert(table["is_missing"]))
    for batch in table.select(["graph_kind", "graph_id", "node_id", "blocked_by"]).to_batches(CAUSES_PER_BATCH):
        yield batch.set_column(3, "blocked_by", batch["blocked_by"].cast(pa.list_(pa.string())))


def ancestors_of_partition(
    batches: Iterator[pa.RecordBatch], limit: int, deeper_than: int = -1
) -> Iterator[pa.RecordBatch]:
    """Yield `ancestor_pairs` of the members in a partition."""
    yield from _chunks(batches, lambda members: ancestor_pairs(members, limit, deeper_than))


def clocks_of_partition(
    batches: Iterator[pa.RecordBatch], limit: int, max_rows: int, deeper_than: int = -1
) -> Iterator[pa.RecordBatch]:
    """Yield `author_clocks` of the members in a partition."""
    yield from _chunks(batches, lambda members: author_clocks(members, limit, max_rows, deeper_than))


def _chunks(batches: Iterator[pa.RecordBatch], kernel: Callable) -> Iterator[pa.RecordBatch]:
    members = collect(batches)
    if members is not None:
        for chunk in kernel(members):
            yield from chunk.to_batches() if isinstance(chunk, pa.Table) else [chunk]
