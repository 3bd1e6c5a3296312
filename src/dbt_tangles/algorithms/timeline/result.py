"""Turns arrays of events and arrivals into columns of the result, which has the rows of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.columns.arrays import starts
from dbt_tangles.kernel_runtime.output import Nested

if TYPE_CHECKING:
    from dbt_tangles.algorithms.timeline.edits import Commands
    from dbt_tangles.algorithms.timeline.updates import Updates


class Target(NamedTuple):
    """The rows of the result."""

    arrival: np.ndarray  # int64[arrivals], the row of each arrival
    event: np.ndarray  # int64[events], the row of each event
    is_in: np.ndarray  # bool[rows]; whether the row is that of an event

    @classmethod
    def of(cls, rows: int, arrival: np.ndarray, event: np.ndarray) -> Target:
        """Mark the rows of events."""
        is_in = np.zeros(rows, np.bool_)
        is_in[event] = True
        return cls(arrival, event, is_in)

    def _scatter(self, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        scattered = np.zeros(len(self.is_in), values.dtype)
        scattered[places] = values
        return scattered

    def of_arrivals(self, values: np.ndarray) -> np.ndarray:
        """Put a value of each arrival at its row."""
        return self._scatter(self.arrival, values)

    def of_events(self, values: np.ndarray) -> np.ma.MaskedArray:
        """Put a value of each event at its row; null elsewhere."""
        return np.ma.array(self._scatter(self.event, values), mask=~self.is_in)

    def sorted_lists(self, owner: np.ndarray, ids: pa.ChunkedArray) -> Nested:
        """List the ids that events own, sorted and without nulls; null for rows that are not of events."""
        owned = pa.table({"row": self.event[owner], "id": ids}).filter(ids.is_valid())
        owned = owned.sort_by([("row", "ascending"), ("id", "ascending")])
        counts = np.bincount(owned["row"].to_numpy(), minlength=len(self.is_in))
        return Nested(starts(counts), owned["id"], ~self.is_in)

    def edits(self, commands: Commands) -> Nested:
        """List the commands that concern each event, in their order."""
        rows = self.event[commands.event]
        order = np.argsort(rows, kind="stable")
        taken = commands.taken[order]
        columns = {
            "batch": commands.batch[order],
            "step": commands.step[order],
            "from_position": np.ma.array(taken, mask=taken < 0),
            "to_position": commands.put[order],
        }
        return Nested(starts(np.bincount(rows, minlength=len(self.is_in))), columns, ~self.is_in)

    def updates(self, updates: Updates, table: pa.Table) -> dict[str, pa.Array | pa.ChunkedArray]:
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
        kept = np.full(len(self.is_in), -1)
        kept[self.event[updates.kept_event]] = updates.kept_row
        rows = pa.array(kept, mask=kept < 0)
        return {name: pc.coalesce(column, table[name].take(rows)) for name, column in made.items()}
