"""What the checks of lines said before, by the digests of the lines: so that no line is checked twice.

Only places and digests are compared, and rows whose line is still at its place are passed on without being moved.
"""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import Few, compared

#: Of a checked line: the SHA-256 of its bytes; null where the row is about a file, and where the line was cut.
DIGEST = "line_digest"
PLACE = ("source_file", "block_start", "row_id")


def line_digest(max_bytes: int) -> Column:
    """The column of the digests of lines; one that was cut has none, as it is refused unread."""
    is_whole = sf.col("fault").isNull() & (sf.col("raw_length") <= max_bytes)
    return sf.when(is_whole, sf.unhex(sf.sha2("raw", 256))).alias(DIGEST)


class Parted(NamedTuple):
    """Lines of a log: those that are known, and the others.

    Attributes:
        standing: The rows of those that are where they were.
        moved: The rows of those that are elsewhere, or once more; None where there are none.
        unknown: The others, as they were read.
        is_grown: The log has all that it had: what stands is all that was known.
    """

    standing: DataFrame
    moved: DataFrame | None
    unknown: DataFrame
    is_grown: bool


def part(lines: DataFrame, digest: Column, known: DataFrame) -> Parted:
    """Part the lines whose bytes are among those checked before from the others.

    Args:
        lines: All lines, with their places.
        digest: The column of their digests, which the lines that are not known have in the end.
        known: The table of checked lines as it was. What is not in the log any more is left out.
    """
    places = compared(lines.select(*PLACE, digest), known.select(*PLACE, DIGEST))
    # What has no digest is checked again in any case.
    changes = Few(places.where(f"is_now <> was_before or {DIGEST} is null"))
    gone = changes.rows.where("was_before = 1").select(*PLACE)
    is_grown = gone.isEmpty()
    new = changes.rows.where("is_now = 1").select(*PLACE, DIGEST)
    standing = known if is_grown else known.join(changes.sent(gone), [*PLACE], "left_anti")

    # A line that is elsewhere now, or a copy of one that is known: which row of the table has it?
    wanted = new.where(f"{DIGEST} is not null").select(DIGEST).distinct()
    origins = (
        known.select(*PLACE, DIGEST)
        .join(changes.sent(wanted), DIGEST, "left_semi")
        .groupBy(DIGEST)
        .agg(sf.min(sf.struct(*PLACE)).alias("origin"))
    )
    found = Few(new.join(changes.sent(origins), DIGEST, "left"))
    unknown = lines.join(found.sent(found.rows.where("origin is null").select(*PLACE)), [*PLACE], "left_semi")
    unknown = unknown.select("*", digest)  # behind the join: of the others it is not computed twice
    moved = found.rows.where("origin is not null").select(
        *(sf.col(f"origin.{name}").alias(name) for name in PLACE),
        sf.struct(*PLACE).alias("now"),
    )
    if moved.isEmpty():
        return Parted(standing, None, unknown, is_grown)
    again = known.join(found.sent(moved), [*PLACE])
    results = [name for name in known.columns if name not in PLACE]
    again = again.select(*(sf.col(f"now.{name}").alias(name) for name in PLACE), *results)
    return Parted(standing, again, unknown, is_grown)
