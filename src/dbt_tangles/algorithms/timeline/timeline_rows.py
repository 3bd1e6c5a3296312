"""Turns arrays of events and arrivals into the columns of the result.

`out_event` and `out_row` are the rows of events and arrivals in the result; `is_in` bool[rows] marks accepted arrivals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.timeline.admission import ACCEPTED, CYCLE, DUPLICATE, REFUSED
from dbt_tangles.algorithms.timeline.conflicts import CONFLICT
from dbt_tangles.algorithms.timeline.schemas import EDIT_TYPE
from dbt_tangles.reasons import EventReason

if TYPE_CHECKING:
    from dbt_tangles.algorithms.timeline.updates import Updates
    from dbt_tangles.kernel_runtime.spill_buffer import Rows


class Edits(NamedTuple):
    """Commands by event: `event` int32, `batch` int64, `step` int32, `taken` int32 (-1: an insertion), `put` int32."""

    event: np.ndarray
    batch: np.ndarray
    step: np.ndarray
    taken: np.ndarray
    put: np.ndarray


def scatter(size: int, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Put values at their places in an array of `size`, with zeros elsewhere."""
    scattered = np.zeros(size, values.dtype)
    scattered[places] = values
    return scattered


def reason_column(verdict: np.ndarray, refusal: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give the reason of each refused row, from its verdict or from before; null for accepted rows."""
    names = [None] * (max(ACCEPTED, DUPLICATE, CYCLE, REFUSED, CONFLICT) + 1)
    for code, reason in (
        (DUPLICATE, EventReason.DUPLICATE),
        (CYCLE, EventReason.CYCLE),
        (CONFLICT, EventReason.CONFLICT),
    ):
        names[code] = reason.value
    return pc.coalesce(refusal, pa.array(names, pa.string()).take(pa.array(verdict)))


def _lists(items: pa.Array, owners: np.ndarray, is_in: np.ndarray) -> pa.ListArray:
    """Make a list column from items sorted by row; null for rows that were not accepted."""
    offsets = np.zeros(len(is_in) + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=len(is_in)), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), items, type=pa.list_(items.type), mask=pa.array(~is_in))


def missing_column(
    causes: pa.ChunkedArray, missing: tuple[np.ndarray, np.ndarray], out_event: np.ndarray, is_in: np.ndarray
) -> pa.ListArray:
    """List the missing causes of each row, sorted; `missing` is the result of `arrivals.missing_causes`."""
    events, item = missing
    listed = pa.array([], pa.string())
    if len(item):
        # Nulls within lists are ignored below.
        flat = pa.chunked_array([chunk.flatten() for chunk in causes.chunks], causes.type.value_type)
        listed = flat.take(pa.array(item)).combine_chunks()
        owners = out_event[events]
        order = pc.sort_indices(pa.table({"row": owners, "id": listed}), [("row", "ascending"), ("id", "ascending")])
        order = order.filter(listed.take(order).is_valid())
        return _lists(listed.take(order), owners[order.to_numpy()], is_in)
    return _lists(listed, np.empty(0, np.int64), is_in)


def cyclic_column(event_id: pa.ChunkedArray, source: np.ndarray, owners: np.ndarray, is_in: np.ndarray) -> pa.ListArray:
    """List the causes of each row that are or follow its event, sorted.

    Args:
        event_id: The names.
        source: int64[left out], the row with the name of each.
        owners: int64[left out], the row of the result that lists it.
        is_in: bool[rows].
    """
    listed = event_id.take(pa.array(source)).combine_chunks() if len(source) else pa.array([], event_id.type)
    order = pc.sort_indices(pa.table({"row": owners, "id": listed}), [("row", "ascending"), ("id", "ascending")])
    return _lists(listed.take(order), owners[order.to_numpy()], is_in)


def edit_column(edits: Edits | None, out_event: np.ndarray, is_in: np.ndarray) -> pa.ListArray:
    """List the commands that concern each row's event, in their order."""
    if edits is None:
        empty = np.empty(0, np.int32)
        edits = Edits(empty, empty.astype(np.int64), empty, empty, empty)
    owners = out_event[edits.event]
    order = np.argsort(owners, kind="stable")
    taken = edits.taken[order]
    arrays = [
        pa.array(edits.batch[order]),
        pa.array(edits.step[order]),
        pa.array(taken, mask=taken < 0),
        pa.array(edits.put[order]),
    ]
    return _lists(pa.StructArray.from_arrays(arrays, fields=list(EDIT_TYPE)), owners, is_in)


def update_columns(updates: Updates, step: np.ndarray, out: np.ndarray, table: pa.Table | Rows, size: int) -> dict:
    """Give each row its command in the script from the last published order: step, from, to.

    Args:
        updates: The scripts.
        step: int32[commands], the number of each command in its script.
        out: int64[events], the row of each event in the result.
        table: The table with the published rows.
        size: Number of rows of the result.
    """
    commands = updates.commands
    place = out[commands.event]
    is_named = scatter(size, place, np.ones(len(place), np.bool_))
    taken = scatter(size, place, commands.taken)
    made = {
        "update_step": pa.array(scatter(size, place, step), mask=~is_named),
        "update_from_position": pa.array(taken, mask=~is_named | (taken < 0)),
        "update_to_position": pa.array(scatter(size, place, commands.put), mask=~is_named),
    }
    if not len(updates.kept_row):
        return made
    kept = np.full(size, -1)
    kept[out[updates.kept_event]] = updates.kept_row
    rows = pa.array(kept, mask=kept < 0)
    return {name: pc.coalesce(column, table[name].take(rows)) for name, column in made.items()}
