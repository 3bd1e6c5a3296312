"""Divides files on this machine into blocks, which several tasks read at once."""

import os
from itertools import pairwise
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.input_files import Tail, uri
from dbt_tangles.ingest import unpack

#: The size of a block in bytes.
BLOCK_BYTES = 2**25


class Block(NamedTuple):
    """A range of bytes of a file on this machine."""

    path: str  # The file
    start: int = 0  # Its first byte; blocks of a file follow each other
    end: int | None = None  # The byte after its last; None for a whole file that is unpacked
    fault: str | None = None  # A code of `FileFault`, if the file is skipped
    first_line: int = 1  # The number of its first line; `spread_numbered` finds it for a block that follows another


#: The columns of blocks, as `unpack.read_blocks` reads them.
_COLUMNS = "number int, source_file string, path string, start bigint, end bigint, fault string, first_line bigint"


def divide(tail: Tail) -> list[Block]:
    """Divide bytes of a plain file into blocks; zero bytes have none."""
    starts = range(tail.start, tail.end, BLOCK_BYTES)
    return [Block(tail.path, each, min(each + BLOCK_BYTES, tail.end), None, tail.lines + 1) for each in starts]


def spread_numbered(spark: SparkSession, blocks: list[Block]) -> DataFrame:
    """Spread blocks over the tasks of a session, each with the number of its first line.

    The lines of blocks that another block of the same file follows are counted first.

    Args:
        spark: The session.
        blocks: The blocks; those of a file follow each other.

    Returns:
        One row per block for `unpack.read_blocks`.
    """
    blocks = [*blocks]
    continued = [number for number, (block, following) in enumerate(pairwise(blocks)) if block.path == following.path]
    if continued:
        table = _spread(spark, [blocks[number] for number in continued])
        counted = table.mapInArrow(unpack.count_lines, "number int, lines bigint").collect()
        lines = {row["number"]: row["lines"] for row in counted}
        for place, number in enumerate(continued):
            blocks[number + 1] = blocks[number + 1]._replace(first_line=blocks[number].first_line + lines[place])
    return _spread(spark, blocks)


def _spread(spark: SparkSession, blocks: list[Block]) -> DataFrame:
    rows = [(number, uri(block.path), *block) for number, block in enumerate(blocks)]
    # There may be zero blocks: all files are empty.
    table = spark.createDataFrame(rows, _COLUMNS)
    return table.repartition(min(len(rows), os.cpu_count() or 1), "number") if len(rows) > 1 else table
