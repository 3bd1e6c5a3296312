"""Builds the output batches of `reduce_groups`: rows of epochs, members and dropped members with their names."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import starts
from dbt_tangles.algorithms.graph.members import single_chunk
from dbt_tangles.algorithms.private_group.schemas import OUTPUT_SCHEMA

# An Arrow array of strings holds at most two gigabytes.
MAX_BATCH_BYTES = 2**30


class OutputNames(NamedTuple):
    """The names of groups, epochs, messages and feeds."""

    group_ids: pa.Array  # By row
    message_ids: pa.Array  # By row; the message ids of inits are epoch ids
    feeds: pa.Array  # By entry of all lists of feeds
    epoch_row: np.ndarray  # int32[epochs]
    feed_entry: np.ndarray  # int64[codes], an entry of each feed
    most: int  # The most strings of one column in one batch

    def of(self, epoch: np.ndarray, feed: np.ndarray | None = None) -> dict[str, pa.Array]:
        """Name the group, the epoch and the feed of rows."""
        rows = pa.array(self.epoch_row[epoch])
        columns = {"group_id": self.group_ids.take(rows), "epoch_id": self.message_ids.take(rows)}
        if feed is not None:
            columns["feed_id"] = self.feeds.take(pa.array(self.feed_entry[feed]))
        return columns

    def lists(self, start: np.ndarray, row: np.ndarray) -> pa.ListArray:
        """Make lists of message ids.

        Args:
            start: int64[lists + 1], into `row`.
            row: int32[...].
        """
        ids = self.message_ids.take(pa.array(row[start[0] : start[-1]]))
        return pa.ListArray.from_arrays(pa.array((start - start[0]).astype(np.int32)), ids)


def prepare_names(
    table: pa.Table, epoch_row: np.ndarray, feed_entry: np.ndarray, chunk_rows: int, longest_list: int
) -> OutputNames:
    """Prepare the columns that names are taken from.

    Args:
        table: As for `reduce_groups`.
        epoch_row: int32[epochs].
        feed_entry: int64[codes].
        chunk_rows: The most rows of a batch; batches with long strings have fewer.
        longest_list: The most messages about one pair; they are all in one row.

    Returns:
        The names.
    """
    feeds = pa.chunked_array([chunk.flatten() for chunk in table["feeds"].chunks], table["feeds"].type.value_type)
    columns = (table["group_id"], table["message_id"], feeds)
    longest = max(pc.max(pc.binary_length(column)).as_py() or 1 for column in columns)
    most = max(min(chunk_rows, MAX_BATCH_BYTES // longest), 1)
    return OutputNames(*(single_chunk(column, most + longest_list) for column in columns), epoch_row, feed_entry, most)


def split_rows(size: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Split rows into runs of bounded size.

    Args:
        size: int64[rows], the size of each row.
        most: The most size of a run with several rows.

    Yields:
        The begin and end of each run.
    """
    ends = starts(size)
    begin = 0
    while begin < len(size):
        end = max(int(np.searchsorted(ends, ends[begin] + most, side="right")) - 1, begin + 1)
        yield begin, end
        begin = end


def make_batch(kind: str, row_count: int, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """Make rows of one kind; columns that are not given are null."""
    columns = columns | {"row_kind": pa.array([kind], pa.string()).take(pa.array(np.zeros(row_count, np.int8)))}
    return pa.record_batch(
        [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(row_count, field.type)
            for field in OUTPUT_SCHEMA
        ],
        schema=OUTPUT_SCHEMA,
    )
