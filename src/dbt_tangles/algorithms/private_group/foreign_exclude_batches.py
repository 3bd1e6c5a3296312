"""Finds foreign excludes in whole private groups: one call for the rows of a Spark partition."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.algorithms.private_group.foreign_excludes import STEP_LIMIT, foreign_excludes
from dbt_tangles.kernel_runtime.arrow_batches import collect


def foreign_exclude_batches(
    batches: Iterator[pa.RecordBatch], step_limit: int = STEP_LIMIT
) -> Iterator[pa.RecordBatch]:
    """Apply `foreign_excludes` to the rows of a partition.

    Args:
        batches: Rows of `FOREIGN_INPUT_SCHEMA`.
        step_limit: As in `foreign_excludes`.

    Yields:
        Rows of `FOREIGN_OUTPUT_SCHEMA`.
    """
    table = collect(batches)
    if table is not None:
        yield from foreign_excludes(table, step_limit)
