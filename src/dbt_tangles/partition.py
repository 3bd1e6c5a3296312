"""What every function over the batches of a Spark partition does."""

from collections.abc import Iterator

import pyarrow as pa

#: How many rows go back to Spark at a time.
ROWS_PER_BATCH = 50_000


def collect(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    """Collect the rows of a partition as one table; None where it has none, as Spark may not even name the columns."""
    found = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(found) if found else None
