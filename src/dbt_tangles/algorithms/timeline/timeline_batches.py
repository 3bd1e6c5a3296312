"""Orders the timelines of a Spark partition, which holds all rows of each of its timelines."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.timeline.order import order_timelines
from dbt_tangles.algorithms.timeline.schemas import KEPT_SCHEMA
from dbt_tangles.kernel_runtime.arrow_batches import append_columns
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT, Rows


def order_of_partition(
    batches: Iterator[pa.RecordBatch],
    batch_size: int,
    edit_limit: int,
    rows_in_memory: int = NO_LIMIT,
    edit_command_limit: int = NO_LIMIT,
) -> Iterator[pa.RecordBatch]:
    """Apply `order_timelines` to the rows of a partition.

    Args:
        batches: See `order_timelines`.
        batch_size: See `order_timelines`.
        edit_limit: See `order_timelines`.
        rows_in_memory: Maximum number of rows in memory; further rows wait on disk while the timelines are ordered.
        edit_command_limit: See `order_timelines`.

    Raises:
        ValueError: As `order_timelines`.
    """
    rows = None
    for batch in batches:
        if rows is None:
            rows = Rows(batch.schema, rows_in_memory)
        rows.add(batch)
    if rows:
        places = order_timelines(rows, batch_size, edit_limit, edit_command_limit)
        yield from append_columns(map(_arrivals, rows.to_batches()), places)


def _arrivals(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out published rows, and the causes of timelines that have an order only."""
    if "is_published" in rows.schema.names:
        rows = rows.filter(pc.invert(rows["is_published"].fill_null(False)))
    kept = rows.select(KEPT_SCHEMA.names).cast(KEPT_SCHEMA)
    if "is_order_only" in rows.schema.names:
        for name in ("causes", "cause_kinds"):
            place, none = KEPT_SCHEMA.get_field_index(name), pa.scalar(None, KEPT_SCHEMA.field(name).type)
            lists = pc.if_else(rows["is_order_only"].fill_null(False), none, kept[name])
            kept = kept.set_column(place, KEPT_SCHEMA.field(name), lists)
    return kept
