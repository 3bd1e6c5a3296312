"""The rows of whole groups as they come from Spark: counted, and beyond some number on disk.

A kernel looks at a few columns, one after another, and gives each row back with more columns. So of a large graph it
holds what it made of those columns, numbers above all; the rows themselves can wait on the worker's disk.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH

#: Where nothing is said: what fits.
NO_LIMIT = 2**63 - 1


class Rows:
    """Rows in memory up to some number, and beyond it on disk; read by column, or whole in batches.

    Each column has a file of its own, so that one is read without the others. Files have no names: nothing is left of
    them, however the process ends.
    """

    def __init__(self, schema: pa.Schema, in_memory: int) -> None:
        """Begin without rows.

        Args:
            schema: Of the rows.
            in_memory: How many may be in memory.
        """
        self.schema = schema
        self._in_memory = in_memory
        self._count = 0
        self._waiting: list[pa.RecordBatch] = []
        self._files: list[list[IO[bytes]]] = []
        self._writers: list[pa.RecordBatchStreamWriter] = []

    def __len__(self) -> int:
        """Count the rows."""
        return self._count

    @property
    def column_names(self) -> list[str]:
        """Name the columns."""
        return self.schema.names

    @property
    def is_on_disk(self) -> bool:
        """Say where the rows are."""
        return bool(self._files)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        if not len(batch):
            return
        self._waiting.append(batch)
        self._count += len(batch)
        if self._count > self._in_memory:
            self._write()

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """Read a column."""
        return pa.chunked_array(self.chunks(name), self.schema.field(name).type)

    def chunks(self, name: str) -> Iterator[pa.Array]:
        """Read a column piece by piece, for who needs no more than one of them at a time."""
        return (batch[0] for batch in self.to_batches([name]))

    def to_batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read all columns, or some, a few rows at a time and always in the same order."""
        names = self.schema.names if names is None else list(names)
        schema = pa.schema([self.schema.field(name) for name in names])
        for batch in self._read(names):
            for begin in range(0, len(batch[0]), ROWS_PER_BATCH):
                columns = [column.slice(begin, ROWS_PER_BATCH) for column in batch]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, names: list[str]) -> Iterator[Sequence[pa.Array]]:
        self._close()
        for files in self._files:
            chosen = [files[self.schema.get_field_index(name)] for name in names]
            for file in chosen:
                file.seek(0)
            for parts in zip(*map(pa.ipc.open_stream, chosen), strict=True):
                yield [part[0] for part in parts]
        yield from (batch.select(names).columns for batch in self._waiting)

    def _write(self) -> None:
        if not self._writers:
            folder = _folder()
            self._files.append([tempfile.TemporaryFile(prefix="tangles-", dir=folder) for _ in self.schema])  # noqa: SIM115
            self._writers = [
                pa.ipc.new_stream(file, pa.schema([field]))
                for file, field in zip(self._files[-1], self.schema, strict=True)
            ]
        for batch in self._waiting:
            for writer, field, column in zip(self._writers, self.schema, batch.columns, strict=True):
                writer.write_batch(pa.RecordBatch.from_arrays([column], schema=pa.schema([field])))
        self._waiting = []

    def _close(self) -> None:
        """End what is on disk, so that it can be read; rows that come later have other files."""
        for writer in self._writers:
            writer.close()
        self._writers = []


def chunks_of(table: pa.Table | Rows, name: str) -> Iterable[pa.Array]:
    """List the pieces of a column, or read them one by one."""
    return table.chunks(name) if isinstance(table, Rows) else table[name].chunks


class Held:
    """Takes the rows of groups from a stream, and gives back those of groups that are too large for one task.

    Nothing is counted as long as there are few rows in all.
    """

    def __init__(
        self,
        keys: Sequence[str],
        limit: int,
        in_memory: int = NO_LIMIT,
        uncounted: str | None = None,
        uncounted_rows: int | None = None,
    ) -> None:
        """Begin without rows.

        Args:
            keys: The columns that name a group; null is a name.
            limit: How many rows a group may have.
            in_memory: How many rows may be in memory, as of `Rows`.
            uncounted: A column that may be there; rows for which it is true do not count.
            uncounted_rows: Up to so many rows in all nothing is counted, and no group is too large; where nothing is
                said, up to as many as one may have.
        """
        self.keys, self.limit, self._in_memory, self._uncounted = list(keys), limit, in_memory, uncounted
        self._least = limit if uncounted_rows is None else uncounted_rows
        self._rows: Rows | None = None
        self.counts: Counter[tuple] | None = None

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Hold some rows, but yield those of groups that have shown to be too large."""
        if self._rows is None:
            self._rows = Rows(batch.schema, self._in_memory)
        if self.counts is None and len(self._rows) + len(batch) > self._least:
            self.counts = Counter()
            for held in self._rows.to_batches():
                self.count(held)
        if self.counts is not None:
            self.count(batch)
            large, batch = self.split(batch)
            if len(large):
                yield large
        self._rows.add(batch)

    def give_up(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of groups that are too large, and were held before that showed; once all rows were taken."""
        if self._rows is None or not self.has_large:
            return
        rows, self._rows = self._rows, Rows(self._rows.schema, self._in_memory)
        for batch in rows.to_batches():
            large, batch = self.split(batch)
            if len(large):
                yield large
            self._rows.add(batch)

    @property
    def rows(self) -> Rows | None:
        """What is held; None where there was nothing at all."""
        return self._rows if self._rows is not None and len(self._rows) else None

    @property
    def has_large(self) -> bool:
        """Say whether some group is too large."""
        return self.counts is not None and any(map(self.is_large, self.counts))

    def split(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Part rows into those of groups that are too large, and the others."""
        is_large = np.zeros(len(batch), np.bool_)
        for key, _ in counted(batch, self.keys) if self.counts else ():
            if self.is_large(key):
                is_large |= np.logical_and.reduce(
                    [_equal(batch[name], value) for name, value in zip(self.keys, key, strict=True)]
                )
        if not is_large.any():
            return batch.slice(0, 0), batch
        return batch.filter(pa.array(is_large)), batch.filter(pa.array(~is_large))

    def is_large(self, key: tuple) -> bool:
        """Say whether a group is too large."""
        return self.counts[key] > self.limit

    def count(self, batch: pa.RecordBatch) -> None:
        """Count the rows of each group."""
        if self._uncounted in batch.schema.names:
            batch = batch.filter(pc.invert(batch[self._uncounted].fill_null(False)))
        for key, count in counted(batch, self.keys):
            self.counts[key] += count


def counted(batch: pa.RecordBatch, keys: list[str]) -> Iterator[tuple[tuple, int]]:
    """Count the rows of each group in a batch."""
    rows = pa.Table.from_batches([batch.select(keys)])
    counts = rows.group_by(keys, use_threads=False).aggregate([([], "count_all")])
    *names, numbers = (counts[name].to_pylist() for name in [*keys, "count_all"])
    return zip(zip(*names, strict=True), numbers, strict=True)


def _equal(column: pa.Array, value: str | None) -> np.ndarray:
    equal = column.is_null() if value is None else pc.equal(column, value).fill_null(False)
    return equal.to_numpy(zero_copy_only=False)


def _folder() -> str | None:
    """Where Spark keeps a worker's files, if it says so; else where temporary files are."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if folder and os.access(folder, os.W_OK)), None)
