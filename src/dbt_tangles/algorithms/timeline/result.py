"""Turns arrays of events and arrivals into the columns of the result, which has one row per arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.timeline.schemas import EDIT_TYPE
from dbt_tangles.columns.arrays import starts

if TYPE_CHECKING:
    from dbt_tangles.algorithms.timeline.edits import Commands
    from dbt_tangles.algorithms.timeline.updates import Updates
    from dbt_tangles.kernel_runtime.spill_buffer import Rows


class Target(NamedTuple):
    """The rows of the result."""

    row: np.ndarray  # int64[rows], the row of the input for each row of the result
    arrival: np.ndarray  # int64[arrivals], the row of each arrival
    event: np.ndarray  # int64[events], the row of each event
    is_in: np.ndarray  # bool[rows]; whether the row is that of an event

    @classmethod
    def of(cls, is_new: np.ndarray, arrival: np.ndarray, event: np.ndarray) -> Target:
        """Number the rows of arrivals; the arguments are by row of the input, and rows of the input."""
        number = np.cumsum(is_new) - 1
        is_in = np.zeros(len(is_new), np.bool_)
        is_in[event] = True
        return cls(np.flatnonzero(is_new), number[arrival], number[event], is_in[is_new])

    def _scatter(self, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        scattered = np.zeros(len(self.row), values.dtype)
        scattered[places] = values
        return scattered

    def of_arrivals(self, values: np.ndarray) -> np.ndarray:
        """Put a value of each arrival at its row."""
        return self._scatter(self.arrival, values)

    def of_events(self, values: np.ndarray) -> pa.Array:
        """Put a value of each event at its row; null elsewhere."""
        return pa.array(self._scatter(self.event, values), mask=~self.is_in)

    def _lists(self, rows: np.ndarray, items: pa.Array) -> pa.ListArray:
        """Make a list column from items sorted by row; null for rows that were not accepted."""
        offsets = pa.array(starts(np.bincount(rows, minlength=len(self.row))).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, items, type=pa.list_(items.type), mask=pa.array(~self.is_in))

    def sorted_lists(self, owner: np.ndarray, ids: pa.ChunkedArray) -> pa.ListArray:
        """List the ids that events own, sorted and without nulls."""
        owned = pa.table({"row": self.event[owner], "id": ids}).filter(ids.is_valid())
        owned = owned.sort_by([("row", "ascending"), ("id", "ascending")]).combine_chunks()
        return self._lists(owned["row"].to_numpy(), _array(owned["id"]))

    def edits(self, commands: Commands) -> pa.ListArray:
        """List the commands that concern each event, in their order."""
        rows = self.event[commands.event]
        order = np.argsort(rows, kind="stable")
        batch, step, taken, put = (
            each[order] for each in (commands.batch, commands.step, commands.taken, commands.put)
        )
        arrays = [pa.array(batch, pa.int64()), pa.array(step), pa.array(taken, mask=taken < 0), pa.array(put)]
        return self._lists(rows[order], pa.StructArray.from_arrays(arrays, fields=list(EDIT_TYPE)))

    def updates(self, updates: Updates, table: pa.Table | Rows) -> dict[str, pa.Array]:
        """Give each row its command in the script from the last published order: step, from, to."""
        commands = updates.commands
        place = self.event[commands.event]
        is_named = self._scatter(place, np.ones(len(place), np.bool_))
        taken = self._scatter(place, commands.taken)
        made = {
            "update_step": pa.array(self._scatter(place, commands.step), mask=~is_named),
            "update_from_position": pa.array(taken, mask=~is_named | (taken < 0)),
            "update_to_position": pa.array(self._scatter(place, commands.put), mask=~is_named),
        }
        if not len(updates.kept_row):
            return made
        kept = np.full(len(self.row), -1)
        kept[self.event[updates.kept_event]] = updates.kept_row
        rows = pa.array(kept, mask=kept < 0)
        return {name: pc.coalesce(column, table[name].take(rows)) for name, column in made.items()}


def _array(column: pa.ChunkedArray) -> pa.Array:
    """Return the only chunk of a column, or an empty array."""
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
