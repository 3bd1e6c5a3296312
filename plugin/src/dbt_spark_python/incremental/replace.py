"""Replaces the rows of changed groups in a complete table; files without such rows are linked unchanged."""

from collections.abc import Collection, Sequence
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.counts import count_differing
from dbt_spark_python.incremental.earlier import group_key_text, rows_of_groups
from dbt_spark_python.incremental.plan import KEY
from dbt_spark_python.table_store.catalog import FolderCatalog, full_name
from dbt_spark_python.table_store.integrity import list_files
from dbt_spark_python.table_store.warehouse import MOST_FILES

_GROUP, _FILE = "__group", "__file"


def replace_groups(
    catalog: FolderCatalog,
    name: tuple[str, str],
    made: str,
    key: str,
    groups: DataFrame,
    key_columns: Sequence[str] | None,
) -> dict[str, int] | None:
    """Complete a new table, which has the rows of changed groups, with the rows of all other groups.

    Args:
        catalog: The catalog of the table.
        name: The schema and name of the published table.
        made: The name of the new table in that schema, in this process's own folder.
        key: The SQL expression of a row's group.
        groups: The keys of the changed groups, in one column.
        key_columns: The key columns, for counting changed rows; None if changes are not counted.

    Returns:
        The numbers of added, changed and removed rows, if they are counted.
    """
    warehouse, schema = catalog.warehouse, name[0]
    place = warehouse.public_place(*name)
    table = catalog.spark.table(full_name(*name))
    files = sorted(list_files(place))
    # A partitioned table is rewritten in full: a single file lacks the columns in its folders' names.
    is_whole = len(files) >= MOST_FILES or any("/" in file for file in files)
    touched = files if is_whole else _files_with(table, place, files, key, groups)
    before = table if is_whole else _read(table, place, touched)
    new = catalog.spark.table(full_name(schema, made))
    changes = None
    if key_columns is not None:
        changes = count_differing(rows_of_groups(before, key, groups), new, key_columns)
    if touched:
        others = rows_of_groups(before, key, groups, "left_anti").select(*new.columns)
        catalog.append(schema, made, others)
    warehouse.link_files(name, made, set(files) - set(touched))
    return changes


def _files_with(table: DataFrame, place: Path, files: Collection[str], key: str, groups: DataFrame) -> list[str]:
    """Return the files that have a row of one of some groups."""
    if not files:
        return []
    if sail.is_sail(table.sparkSession):  # Sail does not know the file of a row (until 0.6.6 at least)
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
