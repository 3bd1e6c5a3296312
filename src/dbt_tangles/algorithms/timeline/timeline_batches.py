"""Orders the timelines of a Spark partition, which holds all rows of each of its timelines."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.timeline.order import order_timelines
from dbt_tangles.algorithms.timeline.schemas import INPUT_SCHEMA, PLACE_SCHEMA
from dbt_tangles.kernel_runtime.arrow_batches import append_columns, append_reasons
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT, GroupBuffer
from dbt_tangles.reasons import EventReason


def order_of_partition(
    batches: Iterator[pa.RecordBatch],
    batch_size: int,
    edit_limit: int,
    graph_limit: int = NO_LIMIT,
    rows_in_memory: int = NO_LIMIT,
    edit_command_limit: int = NO_LIMIT,
) -> Iterator[pa.RecordBatch]:
    """Apply `order_timelines` to the rows of a partition.

    Args:
        batches: See `order_timelines`.
        batch_size: See `order_timelines`.
        edit_limit: See `order_timelines`.
        graph_limit: All arrivals of a timeline with more arrivals are refused as `timeline_too_large`.
        rows_in_memory: Maximum number of rows in memory; further rows wait on disk while the timelines are ordered.
        edit_command_limit: See `order_timelines`.

    Raises:
        ValueError: As `order_timelines`.
    """
    held = GroupBuffer(["timeline_id"], graph_limit, rows_in_memory, uncounted="is_published")
    for batch in batches:
        yield from _too_large(held.add_rows(batch))
    yield from _too_large(held.pop_large())
    if held.rows is None:
        return
    places = order_timelines(held.rows, batch_size, edit_limit, edit_command_limit)
    yield from append_columns(map(_arrivals, held.rows.to_batches()), places)


def _arrivals(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out published rows."""
    if "is_published" in rows.schema.names:
        rows = rows.filter(pc.invert(rows["is_published"].fill_null(False)))
    return rows.select(INPUT_SCHEMA.names).cast(INPUT_SCHEMA)


def _too_large(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Refuse all arrivals of a timeline that is too large."""
    return append_reasons(
        map(_arrivals, batches), PLACE_SCHEMA, "reason", "refusal", EventReason.TIMELINE_TOO_LARGE.value
    )
