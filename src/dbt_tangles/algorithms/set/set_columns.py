"""The columns of the reduction: arrays by message become values and lists of the input rows."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.set.operations import Operations, messages_by_item, positions
from dbt_tangles.algorithms.set.writer_rules import RULES
from dbt_tangles.columns.arrays import runs, starts
from dbt_tangles.columns.item_tokens import are_strings, are_unique, item_texts
from dbt_tangles.kernel_runtime.output import Nested, Taken, Texts


class Output(NamedTuple):
    """The rows of the messages, and the texts of lists."""

    row: np.ndarray  # int64[messages], the row of each message
    is_in: np.ndarray  # bool[rows], whether the row has a message; all columns of other rows are null
    ids: Texts  # By row
    items: Texts  # By item, as the tables show them
    is_string: np.ndarray  # bool[items], whether the item is a string
    is_shared: np.ndarray  # bool[items], whether another message can name the item

    def values(self, values: np.ndarray, is_null: np.ndarray | bool = False) -> np.ma.MaskedArray:
        """Make a column of a value for each message."""
        column = np.ma.array(np.zeros(len(self.is_in), values.dtype), mask=~self.is_in)
        column[self.row] = np.ma.array(values, mask=is_null)
        return column

    def names(self, code: np.ndarray, names: tuple[str, ...]) -> Taken:
        """Make a column of a name for each message."""
        return Texts(pa.array(names)).at(self.values(code).filled(-1))

    def lists(self, start: np.ndarray, messages: np.ndarray, taken: np.ndarray) -> Nested:
        """Make a column of lists of ids: some of the lists of messages that `start` bounds."""
        taken_start, at = runs(start, taken)
        return Nested(taken_start, self.ids.at(self.row[messages[at]]))

    def by_row(self, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Order entries by the rows of their messages: int64[rows + 1], offsets into int64[entries]."""
        row = self.row[owner]
        return starts(np.bincount(row, minlength=len(self.is_in))), np.argsort(row, kind="stable")


def make_output(table: pa.Table, is_in: np.ndarray, row: np.ndarray, tokens: pa.Array) -> Output:
    """Make an `Output`; `row` is the row of each message among those that are in, `tokens` has a token of each item."""
    place = np.flatnonzero(is_in)[row]
    ids, items = Texts(table["message_id"]), Texts(item_texts(tokens))
    return Output(place, is_in, ids, items, are_strings(tokens), ~are_unique(tokens))


def item_column(
    output: Output, operations: Operations, inserted: np.ndarray, left: np.ndarray, holds: np.ndarray
) -> Nested:
    """List the present items that each message inserted; `left` is `inserted` after pruning (see `insertions`)."""
    present, position = positions(operations, inserted)
    position_left = positions(operations, left)[1]
    start, order = output.by_row(operations.message[inserted[present]])
    item = present[order]
    fields = {
        "item_position": position[item],
        "item": output.items.at(item),
        "position_left": np.ma.array(position_left[item], mask=position_left[item] < 0),
        "kept_by": output.lists(*messages_by_item(operations, holds), item),
    }
    return Nested(start, fields, ~output.is_in)


def fault_column(output: Output, fault: np.ndarray) -> Nested:
    """List the faults of each message: int32[rows, 4], see `writer_rules`."""
    fault = fault[np.lexsort(fault.T[::-1])]
    is_first = np.ones(len(fault), np.bool_)
    is_first[1:] = (fault[1:, :3] != fault[:-1, :3]).any(axis=1)
    first = np.flatnonzero(is_first)
    start, order = output.by_row(fault[first, 0])
    _, rule, item, _ = fault[first[order]].T
    left_out = output.lists(np.append(first, len(fault)), fault[:, 3], order)
    fields: dict[str, Any] = {"item": output.items.at(item), "rule": Texts(pa.array(RULES)).at(rule)}
    return Nested(start, fields | {"left_out_ids": left_out}, ~output.is_in)


def next_column(output: Output, operations: Operations, depth: np.ndarray, is_superseded: np.ndarray) -> Nested:
    """List the messages that the next message on an item has to supersede, at the message that decides the item."""
    shared = np.flatnonzero(output.is_shared)
    item = shared[np.argsort(operations.latest[shared])]
    start, order = output.by_row(operations.message[operations.latest[item]])
    item = item[order]
    is_deepest = depth[operations.message] == depth[operations.message[operations.latest[operations.item]]]
    is_open = is_deepest & operations.deletes & ~is_superseded[operations.message]
    fields = {
        "item": output.items.at(item),
        "is_string": output.is_string[item],
        "deepest": output.lists(*messages_by_item(operations, is_deepest), item),
        "open_deletions": output.lists(*messages_by_item(operations, is_open), item),
    }
    return Nested(start, fields, ~output.is_in)
