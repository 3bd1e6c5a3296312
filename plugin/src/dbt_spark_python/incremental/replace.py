"""Replaces the rows of changed groups in a complete table; large tables keep the files without such rows."""

from collections.abc import Collection, Sequence
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.counts import count_differing
from dbt_spark_python.incremental.earlier import group_key_text, rows_of_groups
from dbt_spark_python.incremental.plan import KEY
from dbt_spark_python.incremental.tables import ChangedGroups, Replacement
from dbt_spark_python.table_store.catalog import FolderCatalog, full_name
from dbt_spark_python.table_store.integrity import list_files
from dbt_spark_python.table_store.warehouse import MOST_FILES

_GROUP, _FILE = "__group", "__file"
#: A smaller table is written in full: finding the files without a changed group would cost more than writing them.
LEAST_BYTES = 4 << 20


def begin_replacement(catalog: FolderCatalog, name: tuple[str, str], groups: ChangedGroups) -> Replacement:
    """Find the rows of a published table that a new table takes over, and the files to link into it.

    Args:
        catalog: The catalog of the table.
        name: The schema and name of the published table.
        groups: The changed groups.
    """
    place, table = catalog.warehouse.public_place(*name), catalog.spark.table(full_name(*name))
    keys, found = groups.keys(catalog.spark), list_files(place)
    # A partitioned table is written in full: a single file lacks the columns in its folders' names.
    is_whole = len(found) >= MOST_FILES or any("/" in file for file in found)
    is_whole = is_whole or sum(size for size, _ in found.values()) < LEAST_BYTES
    touched = [*found] if is_whole else _files_with(table, place, [*found], groups.key, keys)
    before = table if is_whole else _read(table, place, touched)
    kept = rows_of_groups(before, groups.key, keys, "left_anti") if touched else None
    return Replacement(kept, partial(_finish, catalog, name, groups, before, found.keys() - touched))


def _finish(
    catalog: FolderCatalog,
    name: tuple[str, str],
    groups: ChangedGroups,
    before: DataFrame,
    linked: Collection[str],
    made: str,
    key_columns: Sequence[str] | None,
) -> dict[str, int] | None:
    """Link files into a new table, and count the changed rows; see `Replacement`.

    Args:
        catalog: The catalog of the table.
        name: The schema and name of the published table.
        groups: The changed groups.
        before: The published rows that are written again or replaced.
        linked: The files to link.
        made: The name of the new table in that schema, in this process's own folder.
        key_columns: The key columns, for counting changed rows; None if changes are not counted.
    """
    changes = None
    if key_columns is not None:
        keys = groups.keys(catalog.spark)
        sides = before, catalog.spark.table(full_name(name[0], made))
        changes = count_differing(*(rows_of_groups(rows, groups.key, keys) for rows in sides), key_columns)
    catalog.warehouse.link_files(name, made, linked)
    return changes


def _files_with(table: DataFrame, place: Path, files: Collection[str], key: str, groups: DataFrame) -> list[str]:
    """Return the files that have a row of one of some groups."""
    if sail.is_sail(table.sparkSession):  # Sail does not know the file of a row (until 0.7.2 at least)
        parts = [
            _read(table, place, [file]).select(group_key_text(key).alias(_GROUP), sf.lit(file).alias(_FILE))
            for file in files
        ]
        rows = reduce(DataFrame.unionAll, parts)
    else:
        file = sf.substring_index(sf.input_file_name(), "/", -1)
        rows = _read(table, place, files).select(group_key_text(key).alias(_GROUP), file.alias(_FILE))
    found = rows.join(groups, rows[_GROUP] == groups[KEY], "left_semi").select(_FILE).distinct().collect()
    return sorted({row[0] for row in found})


def _read(table: DataFrame, place: Path, files: Collection[str]) -> DataFrame:
    """Read some files of a table."""
    if not files:
        return table.limit(0)
    return table.sparkSession.read.schema(table.schema).parquet(*(str(place / file) for file in files))
