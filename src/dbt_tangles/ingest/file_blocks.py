"""Divides files on this machine into blocks, which several tasks read at once."""

import os
from itertools import pairwise
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.input_files import uri
from dbt_tangles.ingest import unpack

#: The size of a block in bytes.
BLOCK_BYTES = 2**25


class Block(NamedTuple):
    """A range of bytes of a file on this machine."""

    path: str  # The file
    start: int = 0  # Its first byte; blocks of a file follow each other
    end: int | None = None  # The byte after its last; None for a whole file that is unpacked
    fault: str | None = None  # A code of `FileFault`, if the file is skipped


#: The columns of blocks, as `unpack.read_blocks` reads them.
_COLUMNS = "number int, source_file string, path string, start bigint, end bigint, fault string, first_line bigint"


def divide(path: str, size: int) -> list[Block]:
    """Divide a plain file of a size in bytes into blocks; an empty file has none."""
    return [Block(path, start, min(start + BLOCK_BYTES, size)) for start in range(0, size, BLOCK_BYTES)]


def spread_numbered(spark: SparkSession, blocks: list[Block]) -> DataFrame:
    """Spread blocks over the tasks of a session, each with the number of its first line.

    The lines of blocks that another block of the same file follows are counted first.

    Args:
        spark: The session.
        blocks: The blocks; those of a file follow each other.

    Returns:
        One row per block for `unpack.read_blocks`.
    """
    first_lines = [1] * len(blocks)
    continued = [number for number, (_, following) in enumerate(pairwise(blocks)) if following.start]
    if continued:
        table = _spread(spark, [blocks[number] for number in continued], [1] * len(continued))
        counted = table.mapInArrow(unpack.count_lines, "number int, lines bigint").collect()
        lines = {row["number"]: row["lines"] for row in counted}
        for place, number in enumerate(continued):
            first_lines[number + 1] = first_lines[number] + lines[place]
    return _spread(spark, blocks, first_lines)


def _spread(spark: SparkSession, blocks: list[Block], first_lines: list[int]) -> DataFrame:
    rows = [
        (number, uri(block.path), *block, first_line)
        for number, (block, first_line) in enumerate(zip(blocks, first_lines, strict=True))
    ]
    # There may be zero blocks: all files are empty.
    table = spark.createDataFrame(rows, _COLUMNS)
    return table.repartition(min(len(rows), os.cpu_count() or 1), "number") if len(rows) > 1 else table
