"""The graph kernels as functions over the batches of a Spark partition that holds whole graphs."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.graph.ancestors import ancestor_pairs
from dbt_tangles.graph.causes import root_causes
from dbt_tangles.graph.clocks import author_clocks
from dbt_tangles.graph.walk import DEPTH_SCHEMA, walk_graphs
from dbt_tangles.partition import ROWS_PER_BATCH, collect

#: Rows with up to `causes.MOST_CAUSES` ids each go back to Spark in batches of so many.
CAUSES_PER_BATCH = 5_000


def levels_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Append `walk_graphs`' columns to the candidates of a partition.

    Args:
        batches: Candidates. Where there is a column `known_depth`, a row that has one is no candidate, but says that
            depth of the one that it names.

    Raises:
        ValueError: what `walk_graphs` raises.
    """
    table = collect(batches)
    if table is None:
        return
    depths = None
    if "known_depth" in table.column_names:
        is_known = table["known_depth"].is_valid()
        known = table.filter(is_known).select([*DEPTH_SCHEMA.names[:3], "known_depth"])
        depths = known.rename_columns(DEPTH_SCHEMA.names) if len(known) else None
        table = table.filter(pc.invert(is_known)).drop_columns("known_depth")
    places = walk_graphs(table, depths=depths)
    for name in places.column_names:
        table = table.append_column(name, places[name])
    yield from table.to_batches(max_chunksize=ROWS_PER_BATCH)


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
