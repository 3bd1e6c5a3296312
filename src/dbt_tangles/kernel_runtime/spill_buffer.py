"""A buffer for the rows of whole groups, spilled to disk above a limit.

A kernel reads a few columns, one after another, and appends result columns to each row. For a large graph it keeps the
arrays computed from those columns in memory; the rows themselves can wait on the worker's disk.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import pyarrow as pa

from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT, spill_folder

__all__ = ["NO_LIMIT", "Rows", "chunks_of"]


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
            folder = spill_folder()
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
