"""Buffers for the rows of whole groups: counted per group, and spilled to disk above a limit.

A kernel reads a few columns, one after another, and appends result columns to each row. For a large graph it keeps the
arrays computed from those columns in memory; the rows themselves can wait on the worker's disk.
"""

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH

#: Default of limits: unlimited.
NO_LIMIT = 2**63 - 1


class Rows:
    """Rows in memory up to a limit and on disk above it; read by column, or as batches.

    Each column has its own file, so that one column is read without the others. The files are unnamed, so they vanish
    when the process ends, even by a crash.
    """

    def __init__(self, schema: pa.Schema, in_memory: int) -> None:
        """Create an empty buffer.

        Args:
            schema: The schema of the rows.
            in_memory: Maximum number of rows in memory.
        """
        self.schema = schema
        self._in_memory = in_memory
        self._count = 0
        self._waiting: list[pa.RecordBatch] = []
        self._files: list[list[IO[bytes]]] = []
        self._writers: list[pa.RecordBatchStreamWriter] = []

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    @property
    def is_on_disk(self) -> bool:
        """Whether rows are on disk."""
        return bool(self._files)

    def add(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
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
        """Read a column chunk by chunk, without holding all of it."""
        return (batch[0] for batch in self.to_batches([name]))

    def to_batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read all columns or some, in small batches and a stable order."""
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
            folder = _spill_folder()
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
        """Finish the files on disk, so that they can be read; later rows go to new files."""
        for writer in self._writers:
            writer.close()
        self._writers = []


def chunks_of(table: pa.Table | Rows, name: str) -> Iterable[pa.Array]:
    """List the chunks of a column, or read them one by one."""
    return table.chunks(name) if isinstance(table, Rows) else table[name].chunks


class GroupBuffer:
    """Buffers the rows of groups from a stream, and returns rows of groups above a size limit.

    Counting starts only when the total exceeds a threshold.
    """

    def __init__(
        self,
        keys: Sequence[str],
        limit: int,
        in_memory: int = NO_LIMIT,
        uncounted_rows: int | None = None,
    ) -> None:
        """Create an empty buffer.

        Args:
            keys: The key columns of a group; null is a value.
            limit: Maximum number of rows of a group.
            in_memory: Maximum number of rows in memory, as for `Rows`.
            uncounted_rows: Up to this total, rows are not counted and every group passes; by default, the limit of a
                group.
        """
        self.keys, self.limit, self._in_memory = list(keys), limit, in_memory
        self._least = limit if uncounted_rows is None else uncounted_rows
        self._rows: Rows | None = None
        self.counts: Counter[tuple] | None = None

    def add_rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Buffer rows; yield those of groups known to be too large."""
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

    def pop_large(self) -> Iterator[pa.RecordBatch]:
        """After the last batch: yield the buffered rows of groups that turned out to be too large."""
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
        """The buffered rows, if any."""
        return self._rows if self._rows is not None and len(self._rows) else None

    @property
    def has_large(self) -> bool:
        """Whether a group is too large."""
        return self.counts is not None and any(map(self.is_large, self.counts))

    def split(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Split rows into those of groups that are too large, and the rest."""
        is_large = np.zeros(len(batch), np.bool_)
        for key, _ in group_counts(batch, self.keys) if self.counts else ():
            if self.is_large(key):
                is_large |= np.logical_and.reduce(
                    [_equal(batch[name], value) for name, value in zip(self.keys, key, strict=True)]
                )
        if not is_large.any():
            return batch.slice(0, 0), batch
        return batch.filter(pa.array(is_large)), batch.filter(pa.array(~is_large))

    def is_large(self, key: tuple) -> bool:
        """Whether a group is too large."""
        return self.counts[key] > self.limit

    def count(self, batch: pa.RecordBatch) -> None:
        """Count the rows of each group."""
        for key, count in group_counts(batch, self.keys):
            self.counts[key] += count


def group_counts(batch: pa.RecordBatch, keys: list[str]) -> Iterator[tuple[tuple, int]]:
    """Count the rows of each group in a batch."""
    rows = pa.Table.from_batches([batch.select(keys)])
    counts = rows.group_by(keys, use_threads=False).aggregate([([], "count_all")])
    *names, numbers = (counts[name].to_pylist() for name in [*keys, "count_all"])
    return zip(zip(*names, strict=True), numbers, strict=True)


def _equal(column: pa.Array, value: str | None) -> np.ndarray:
    equal = column.is_null() if value is None else pc.equal(column, value).fill_null(False)
    return equal.to_numpy(zero_copy_only=False)


def _spill_folder() -> str | None:
    """Return Spark's folder for the files of a worker, if set; else the default temporary folder applies."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if folder and os.access(folder, os.W_OK)), None)
