"""Divides files on this machine into blocks of whole lines, which several tasks read at once."""

import os
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.engines.sail import is_sail
from dbt_spark_python.input_files import Tail, uri
from dbt_tangles.ingest.decompress import CHUNK_BYTES

#: The least size of a block in bytes, unless it is a file's last.
BLOCK_BYTES = 2**22


class Block(NamedTuple):
    """A range of bytes of a file on this machine."""

    path: str  # The file
    start: int = 0  # Its first byte, at which a line begins
    end: int | None = None  # The byte after its last; None for a whole file that is unpacked
    fault: str | None = None  # A code of `FileFault`, if the file is skipped
    first_line: int = 1  # The number of its first line


#: The columns of blocks, as `unpack.read_files` reads them.
_COLUMNS = "number int, source_file string, path string, start bigint, end bigint, fault string, first_line bigint"


def divide(tail: Tail) -> list[Block]:
    """Divide bytes of a plain file at line ends; zero bytes have no blocks. Only large files are read for that."""
    blocks: list[Block] = []
    start, first_line = tail.start, tail.lines + 1
    if tail.end - start > BLOCK_BYTES:
        at, line = start, first_line
        with open(tail.path, "rb", buffering=0) as file:
            file.seek(at)
            while tail.end - start > BLOCK_BYTES and (chunk := file.read(min(CHUNK_BYTES, tail.end - at))):
                end = chunk.rfind(b"\n") + 1
                line += chunk.count(b"\n")
                if end and at + end - start >= BLOCK_BYTES:
                    blocks.append(Block(tail.path, start, at + end, None, first_line))
                    start, first_line = at + end, line
                at += len(chunk)
    return [*blocks, Block(tail.path, start, tail.end, None, first_line)] if start < tail.end else blocks


def spread(spark: SparkSession, blocks: list[Block]) -> DataFrame:
    """Spread blocks over the tasks of a session: one row per block for `unpack.read_files`."""
    rows = [(number, uri(block.path), *block) for number, block in enumerate(blocks)]
    # There may be zero blocks: all files are empty.
    table = spark.createDataFrame(rows, _COLUMNS)
    tasks = (os.cpu_count() or 1) if is_sail(spark) else spark.sparkContext.defaultParallelism
    return table.repartition(min(len(rows), tasks), "number") if len(rows) > 1 else table
