"""The order of timelines as a function over the batches of a Spark partition that holds whole timelines."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.timelines.order import order_timelines

ROWS_PER_BATCH = 50_000


def order_of_partition(batches: Iterator[pa.RecordBatch], batch_size: int) -> Iterator[pa.RecordBatch]:
    """Apply `order_timelines` to the rows of a partition.

    Raises:
        ValueError: what `order_timelines` raises.
    """
    found = [batch for batch in batches if batch.num_rows]
    if found:
        yield from order_timelines(pa.Table.from_batches(found), batch_size).to_batches(max_chunksize=ROWS_PER_BATCH)
