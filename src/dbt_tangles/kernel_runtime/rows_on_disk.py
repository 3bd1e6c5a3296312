"""Rows in memory up to a limit, and on the worker's disk beyond it."""

import mmap
import os
import tempfile
from collections.abc import Iterable
from itertools import chain

import pyarrow as pa

#: Default of limits: unlimited.
NO_LIMIT = 2**63 - 1


def hold_rows(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows_in_memory: int) -> pa.Table:
    """Collect rows as a table. Above a limit they go to a file that is mapped into memory: columns are read when used.

    The file is unnamed, so it vanishes when the process ends, even by a crash.
    """
    batches, held, count = iter(batches), [], 0
    for batch in batches:
        held.append(batch)
        count += len(batch)
        if count > rows_in_memory:
            break
    else:
        return pa.Table.from_batches(held, schema)
    with tempfile.TemporaryFile(prefix="tangles-", dir=_spill_folder()) as file:
        with pa.ipc.new_stream(file, schema) as writer:
            for batch in chain(held, batches):
                writer.write_batch(batch)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()


def _spill_folder() -> str | None:
    """Return Spark's folder for the files of a worker, if set; else the default temporary folder applies."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if folder and os.access(folder, os.W_OK)), None)
