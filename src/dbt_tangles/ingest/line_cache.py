"""Reuses the check results of unchanged lines, found by the digests of the lines.

Only places and digests are compared. Cached rows of lines that are still at their place are not shuffled.
"""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import NarrowRows, compare_rows

#: SHA-256 of a checked line's bytes; null if the row describes a file or the line was cut.
DIGEST = "line_digest"
PLACE = ("source_file", "line")


def line_digest(max_bytes: int) -> Column:
    """Return the column of line digests. A line that was cut has a null digest, because it is rejected unread."""
    is_whole = sf.col("fault").isNull() & (sf.col("raw_length") <= max_bytes)
    return sf.when(is_whole, sf.unhex(sf.sha2("raw", 256))).alias(DIGEST)


class Parted(NamedTuple):
    """The lines of a log, divided by whether the cache has their results."""

    standing: DataFrame  # Cached rows of lines that are still at their place
    moved: DataFrame | None  # Cached rows of lines at a new place, and of copies of a line; None if there are none
    unknown: DataFrame  # The lines without a cached result, as they were read
    is_grown: bool  # Whether every cached line is still in the log, so that `standing` is the whole cache


def part(lines: DataFrame, digest: Column, known: DataFrame) -> Parted:
    """Divide the lines of a log into those with cached results and the rest.

    Args:
        lines: All lines, with their places.
        digest: The column of their digests; `unknown` gets it as its last column.
        known: The cache: the table of checked lines as an earlier run left it. Lines that have left the log are
            dropped.
    """
    # Digests are texts here: Sail (0.7.2) fails where a table is joined with groups of its own binary values.
    before = known.select(*PLACE, sf.hex(DIGEST).alias(DIGEST))
    places = compare_rows(lines.select(*PLACE, sf.hex(digest).alias(DIGEST)), before)
    # Lines without a digest are always checked again.
    changes = NarrowRows(places.where(f"is_now <> was_before or {DIGEST} is null"))
    gone = changes.rows.where("was_before = 1").select(*PLACE)
    is_grown = gone.isEmpty()
    new = changes.rows.where("is_now = 1").select(*PLACE, DIGEST)
    standing = known if is_grown else known.join(changes.broadcast_if_small(gone), [*PLACE], "left_anti")

    # For a line at a new place, and for a copy of a known line: find the cached row with the same digest.
    wanted = new.where(f"{DIGEST} is not null").select(DIGEST)
    origins = (
        before.join(changes.broadcast_if_small(wanted), DIGEST, "left_semi")
        .groupBy(DIGEST)
        .agg(sf.min(sf.struct(*PLACE)).alias("origin"))
    )
    found = NarrowRows(new.join(changes.broadcast_if_small(origins), DIGEST, "left"))
    unknown = lines.join(
        found.broadcast_if_small(found.rows.where("origin is null").select(*PLACE)), [*PLACE], "left_semi"
    )
    unknown = unknown.select("*", digest)  # after the join, so that only these lines are hashed again
    moved = found.rows.where("origin is not null").select(
        *(sf.col(f"origin.{name}").alias(name) for name in PLACE),
        sf.struct(*PLACE).alias("now"),
    )
    if moved.isEmpty():
        return Parted(standing, None, unknown, is_grown)
    again = known.join(found.broadcast_if_small(moved), [*PLACE])
    results = [name for name in known.columns if name not in PLACE]
    again = again.select(*(sf.col(f"now.{name}").alias(name) for name in PLACE), *results)
    return Parted(standing, again, unknown, is_grown)
