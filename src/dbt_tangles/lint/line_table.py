"""Writes verified lines of a log into the table `lines` of a DuckDB database, batch by batch."""

from collections.abc import Iterable

import duckdb
import pyarrow as pa


def store_lines(database: duckdb.DuckDBPyConnection, batches: Iterable[pa.RecordBatch], query: str) -> int:
    """Create the table `lines`, unless there are no batches.

    Args:
        database: The database.
        batches: The verified lines.
        query: The rows of the table, selected from the table `batch`.

    Returns:
        The number of verified lines.
    """
    count = 0
    for batch in batches:
        database.register("batch", pa.Table.from_batches([batch]))
        database.execute(f"insert into lines {query}" if count else f"create table lines as {query}")
        count += len(batch)
    return count
