"""The rows of `results`, and the columns that all kinds of them have."""

from typing import Any, NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import Bases
from dbt_tangles.algorithms.autobase.bases import NumberedBases
from dbt_tangles.kernel_runtime.output import Taken, Texts
from dbt_tangles.kernel_runtime.row_schema import Int32

#: The observer that knows all nodes of a base.
ALL = "all"


class Settled(NamedTuple):
    """A node that a change settles."""

    node_id: str
    contender: str | None


class Result(NamedTuple):
    """A result; `row_kind` says which columns it has, see `results`."""

    base_id: str
    row_kind: str
    observer: str
    node_id: str
    degree: Int32
    position: Int32 | None
    is_confirmed: bool | None
    design_position: Int32 | None
    reached_by: str | None
    writers: list[str] | None
    old_length: Int32 | None
    kept: Int32 | None
    undone: Int32 | None
    appended: Int32 | None
    settled: list[Settled] | None
    left_out: Int32 | None
    reason: str | None
    contender: str | None
    awaited_merge: str | None


class Part(NamedTuple):
    """Some neighbouring bases, and the texts that name their nodes and writers."""

    base_ids: Texts  # By input row
    node_ids: Texts  # By input row
    writers: Texts  # By writer; the last one is `ALL`
    numbered: NumberedBases  # All bases
    begin: int  # The number of the first base
    bases: Bases  # The bases
    follower: np.ndarray  # int32[...], of `base_graphs.first_followers`

    def rows_of(self, base: np.ndarray | int, node: np.ndarray) -> np.ndarray:
        """Return the input rows of nodes of bases, and -1 for -1."""
        low = self.numbered.graphs.base_start[self.begin]
        row = self.numbered.row[low + self.bases.base_start[base] + np.maximum(node, 0)]
        return np.where(node < 0, -1, row)

    def ids_of(self, base: np.ndarray | int, node: np.ndarray) -> Taken:
        """Return the ids of nodes of bases, null for -1."""
        return self.node_ids.at(self.rows_of(base, node))

    def writers_of(self, base: np.ndarray, node: np.ndarray) -> Taken:
        """Return the writers of nodes of bases."""
        return self.writers.at(self.bases.writer[self.bases.base_start[base] + node])

    def results(self, kind: str, row: np.ndarray, **columns: Any) -> dict[str, Any]:
        """Make the columns of results of a kind about the nodes of input rows."""
        ids = {"base_id": self.base_ids.at(row), "node_id": self.node_ids.at(row)}
        return {"row_kind": kind, "observer": ALL, "degree": 0} | ids | columns
