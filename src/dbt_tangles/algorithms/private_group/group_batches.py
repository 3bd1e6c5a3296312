"""Reduces whole private groups: one call of `reduce_groups` for the rows of a Spark partition."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.algorithms.private_group.reduction import DROPPED_LIMIT, MISSING_LIMIT, STEP_LIMIT, reduce_groups
from dbt_tangles.kernel_runtime.arrow_batches import collect


def reduce_group_batches(
    batches: Iterator[pa.RecordBatch],
    step_limit: int = STEP_LIMIT,
    missing_limit: int = MISSING_LIMIT,
    dropped_limit: int = DROPPED_LIMIT,
) -> Iterator[pa.RecordBatch]:
    """Apply `reduce_groups` to the rows of a partition.

    Args:
        batches: Rows of `INPUT_SCHEMA`.
        step_limit: As in `reduce_groups`.
        missing_limit: As in `reduce_groups`.
        dropped_limit: As in `reduce_groups`.

    Yields:
        Rows of `OUTPUT_SCHEMA`.

    Raises:
        ValueError: As `reduce_groups`.
    """
    table = collect(batches)
    if table is not None:
        yield from reduce_groups(table, step_limit, missing_limit, dropped_limit)
