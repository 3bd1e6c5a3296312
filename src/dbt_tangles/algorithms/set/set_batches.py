"""Validates and reduces whole pzp sets: one call for the rows of a Spark partition."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags
from dbt_tangles.algorithms.set.reduction import reduce_sets
from dbt_tangles.algorithms.set.schemas import INPUT_SCHEMA as REDUCTION_INPUT_SCHEMA
from dbt_tangles.algorithms.set.schemas import OUTPUT_SCHEMA as REDUCTION_OUTPUT_SCHEMA
from dbt_tangles.formats.pzp.rules import Reason
from dbt_tangles.formats.pzp.validity import VALIDITY_INPUT_SCHEMA, VALIDITY_OUTPUT_SCHEMA, validity
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH, collect
from dbt_tangles.reasons import SetReason

#: One row per set and message that names it: the columns of `validity` and `reduce_sets`, with the set's id once.
INPUT_SCHEMA = pa.schema(
    [
        *(field for field in VALIDITY_INPUT_SCHEMA if field.name != "root_id"),
        *(field for field in REDUCTION_INPUT_SCHEMA if field.name not in VALIDITY_INPUT_SCHEMA.names),
        ("has_root", pa.bool_()),
    ]
)
_COPIED = ("set_id", "message_id", "account", "domain", "is_moot", "depth", "has_data", "awaited_ids")
OUTPUT_SCHEMA = pa.schema(
    [*(INPUT_SCHEMA.field(name) for name in _COPIED), *VALIDITY_OUTPUT_SCHEMA, *REDUCTION_OUTPUT_SCHEMA]
)


def reduce_set_batches(
    batches: Iterator[pa.RecordBatch], ghost_span: int, is_trusted: bool
) -> Iterator[pa.RecordBatch]:
    """Validate the messages of whole sets, and reduce each set to its valid and held messages.

    Args:
        batches: Rows of `INPUT_SCHEMA`.
        ghost_span: As in `reduce_sets`.
        is_trusted: Whether the log is a replica's own. The replica validated its messages at arrival, so every readable
            message is in its set.

    Yields:
        One row of `OUTPUT_SCHEMA` per input row. The columns of `reduce_sets` are null for messages outside the set.

    Raises:
        ValueError: As `validity` and `reduce_sets`.
    """
    table = collect(batches)
    if table is None:
        return
    verdicts = _accept_all_readable(table) if is_trusted else validity(table.append_column("root_id", table["set_id"]))
    verdicts = _hold_unread_data(table, verdicts)
    is_in = verdicts["is_valid"].to_numpy() | verdicts["is_held"].to_numpy()
    reduced = reduce_sets(table.filter(pa.array(is_in)), ghost_span)
    place = pa.array(np.cumsum(is_in) - 1, mask=~is_in)
    for start in range(0, len(table), ROWS_PER_BATCH):
        columns = [
            *table.select(_COPIED).slice(start, ROWS_PER_BATCH).columns,
            *verdicts.slice(start, ROWS_PER_BATCH).columns,
            *reduced.take(place.slice(start, ROWS_PER_BATCH)).columns,
        ]
        yield from pa.table(columns, names=OUTPUT_SCHEMA.names).cast(OUTPUT_SCHEMA).combine_chunks().to_batches()


def _hold_unread_data(table: pa.Table, verdicts: pa.Table) -> pa.Table:
    """Hold the valid messages whose data the set does not read: peers link to them, and they change no item."""
    is_unread = pa.array(verdicts["is_valid"].to_numpy() & flags(table, "has_data") & ~flags(table, "is_set_shape"))
    columns = [
        pc.and_not(verdicts["is_valid"], is_unread),
        pc.if_else(is_unread, pa.scalar(SetReason.BAD_SET_DATA.value), verdicts["reject_reason"]),
        pc.or_(verdicts["is_held"], is_unread),
    ]
    return pa.table(columns, schema=VALIDITY_OUTPUT_SCHEMA)


def _accept_all_readable(table: pa.Table) -> pa.Table:
    """Accept every readable message; hold the messages of sets without their root."""
    reasons = pc.coalesce(table["reject_reason"], table["defect"])
    is_no_feed = pc.and_not(pc.equal(table["message_id"], table["set_id"]), table["is_moot"].fill_null(False))
    reasons = pc.if_else(pc.and_(reasons.is_null(), is_no_feed), pa.scalar(Reason.NOT_A_FEED.value), reasons)
    is_read = reasons.is_null()
    has_root = table["has_root"].fill_null(False)
    reasons = pc.if_else(pc.and_not(is_read, has_root), pa.scalar(Reason.MISSING_ROOT.value), reasons)
    columns = [pc.and_(is_read, has_root), reasons, pc.and_not(is_read, has_root)]
    return pa.table(columns, schema=VALIDITY_OUTPUT_SCHEMA)
