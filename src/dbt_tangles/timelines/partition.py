"""The order of timelines as a function over the batches of a Spark partition that holds whole timelines."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.partition import ROWS_PER_BATCH, collect
from dbt_tangles.timelines.order import order_timelines


def order_of_partition(batches: Iterator[pa.RecordBatch], batch_size: int, edit_limit: int) -> Iterator[pa.RecordBatch]:
    """Apply `order_timelines` to the rows of a partition.

    Raises:
        ValueError: what `order_timelines` raises.
    """
    table = collect(batches)
    if table is not None:
        yield from order_timelines(table, batch_size, edit_limit).to_batches(max_chunksize=ROWS_PER_BATCH)
