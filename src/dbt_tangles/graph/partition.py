"""The graph kernels as functions over the batches of a Spark partition that holds whole graphs."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from dbt_tangles.graph.ancestors import ancestor_pairs
from dbt_tangles.graph.clocks import author_clocks
from dbt_tangles.graph.tangles import walk_tangles
from dbt_tangles.partition import ROWS_PER_BATCH, collect


def levels_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Append `walk_tangles`' columns to the rows of a partition.

    Raises:
        ValueError: what `walk_tangles` raises.
    """
    table = collect(batches)
    if table is None:
        return
    places = walk_tangles(table)
    for name in places.column_names:
        table = table.append_column(name, places[name])
    yield from table.to_batches(max_chunksize=ROWS_PER_BATCH)


def ancestors_of_partition(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    """Yield `ancestor_pairs` of the members in a partition."""
    yield from _chunks(batches, lambda members: ancestor_pairs(members, limit))


def clocks_of_partition(batches: Iterator[pa.RecordBatch], limit: int, max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield `author_clocks` of the members in a partition."""
    yield from _chunks(batches, lambda members: author_clocks(members, limit, max_rows))


def _chunks(batches: Iterator[pa.RecordBatch], kernel: Callable) -> Iterator[pa.RecordBatch]:
    members = collect(batches)
    if members is not None:
        for chunk in kernel(members):
            yield from chunk.to_batches() if isinstance(chunk, pa.Table) else [chunk]
