"""Gives a Python model its own earlier table and the rows of changed groups."""

from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.incremental.plan import KEY, VERSION
from dbt_spark_python.input_files import Tail

#: Up to this many narrow rows are broadcast to all workers, which spares a shuffle of the larger side.
MOST_BROADCAST_ROWS = 500_000
#: The limit for the keys of groups, which a log can make long: 128 characters a row.
MOST_BROADCAST_CHARACTERS = 128 * MOST_BROADCAST_ROWS


class ExtendedTable(NamedTuple):
    """The result of a model that keeps all its earlier rows: the new rows, and the whole table.

    A model of the materialization `group_versions` may return it.
    """

    added: DataFrame  # The new rows. Only these are written if the files of the earlier table can be linked
    whole: DataFrame  # All rows


class ChangedGroups(NamedTuple):
    """The changed groups of a table."""

    key: str  # The SQL expression of a row's group
    versions: str  # The table of group versions
    column: str  # Its column that names a group
    since: int  # Groups with a later version have changed
    are_few: bool = False  # Whether joins broadcast their keys
    others_stay: bool = True  # Whether the table keeps the rows of all other groups
    are_lines: bool = False  # Whether each row of the table of versions is a group of its own

    def rows_in(self, rows: DataFrame) -> DataFrame:
        """Return the rows that belong to these groups."""
        versions = rows.sparkSession.table(self.versions)
        return rows_of_changed(rows, self.key, versions, self.since, self.column, self.are_few)

    def kept_rows(self, table: str, names: str) -> str:
        """Write the query for these columns of the rows of all other groups in a table."""
        return self._join("anti", table, names)

    def count_rows(self, table: str) -> str:
        """Write the query for the number of rows that a table has of these groups."""
        return self._join("semi", table, "count(*)")

    def _join(self, kind: str, table: str, names: str) -> str:
        hint = "/*+ broadcast(changed) */ " if self.are_few else ""
        return (
            f"select {hint}{names} from {table} as kept left {kind} join ("
            f"select {_key_text(self.column)} as __group from {self.versions} where {VERSION} > {int(self.since)}"
            f") as changed on {_key_text(self.key)} = changed.__group"
        )


class ModelPlan(NamedTuple):
    """The part of a plan that a Python model reads."""

    since: int = 0  # The model's groups with a later version are rebuilt; 0 rebuilds all
    are_few: bool = False  # Whether joins broadcast the keys of these groups
    is_continued: bool = True  # Whether the model continues from its own earlier table
    kept: str = ""  # The query for the rows of unchanged groups, which are added to the model's result
    tails: list[Tail] | None = None  # The bytes that the model's log gained, if its other inputs are unchanged


_plans: dict[str, ModelPlan] = {}  # of the Python models of this process, by the name of the table


def set_plan(relation: object, plan: ModelPlan) -> None:
    """Set the plan of a Python model before it runs."""
    _plans[plain_name(relation)] = plan


def earlier(spark: SparkSession, relation: object) -> DataFrame | None:
    """Return the earlier table of a model by its name (`dbt.this`), if it exists and the model may continue from it."""
    exists = _plan_of(relation).is_continued and spark.catalog.tableExists(str(relation))
    return spark.table(str(relation)) if exists else None


def tails(spark: SparkSession, relation: object) -> list[Tail] | None:
    """Return the bytes that the log of a model gained since its table was built; see `input_files.find_tails`."""
    return _plan_of(relation).tails


def only_changed(spark: SparkSession, relation: object, rows: DataFrame, key: str, versions: DataFrame) -> DataFrame:
    """Keep the rows of groups that changed since a model's table (`dbt.this`) was built; all rows in a full build.

    `key` is the column that names a row's group, spelled as in the model's own rows; `versions` has the group versions.
    """
    plan = _plan_of(relation)
    return rows_of_changed(rows, key, versions, plan.since, are_few=plan.are_few) if plan.since else rows


def add_kept_rows(spark: SparkSession, relation: object, rows: DataFrame) -> DataFrame:
    """Add the earlier rows of unchanged groups to the rows of a Python model, if its plan says so."""
    kept = _plan_of(relation).kept
    return rows.unionByName(spark.sql(kept)) if kept else rows


def _plan_of(relation: object) -> ModelPlan:
    return _plans.get(plain_name(relation), ModelPlan())


def plain_name(relation: object) -> str:
    """Return the name of a table without quotes, in lower case."""
    return str(relation).replace("`", "").lower()


def compare_rows(now: DataFrame, before: DataFrame) -> DataFrame:
    """Return the distinct rows of two frames with the flags `is_now` and `was_before`, each 1 or 0."""
    sides = (now, 1, 0), (before, 0, 1)
    marked = [
        rows.withColumn("is_now", sf.lit(is_now)).withColumn("was_before", sf.lit(was)) for rows, is_now, was in sides
    ]
    found = marked[0].unionByName(marked[1]).groupBy(*now.columns)
    return found.agg(sf.max("is_now").alias("is_now"), sf.max("was_before").alias("was_before"))


def rows_of_changed(
    rows: DataFrame, key: str, versions: DataFrame, since: int, column: str = KEY, are_few: bool = False
) -> DataFrame:
    """Return the rows of groups with a later version than `since`; `key` is the SQL expression of a row's group.

    A key may occur twice in the column of the versions. Few keys are broadcast: Spark estimates their size by the whole
    table of versions, so without a hint it shuffles both sides of the join.
    """
    keys = versions.where(sf.col(VERSION) > since).select(sf.expr(_key_text(column)).alias(KEY))
    keys = sf.broadcast(keys) if are_few else keys
    return rows.join(keys, sf.expr(_key_text(key)) == keys[KEY], "left_semi")


def _key_text(key: str) -> str:
    """Write the expression that names a row's group: the key as text, empty if the key is null."""
    return f"coalesce(cast({key} as string), '')"


class NarrowRows:
    """Narrow rows that are computed once; joins broadcast them if they are few."""

    def __init__(self, rows: DataFrame) -> None:
        self.rows = rows.localCheckpoint()
        self.count = self.rows.count()

    def broadcast_if_small(self, rows: DataFrame) -> DataFrame:
        """Add a broadcast hint to rows derived from these, if they are few."""
        return sf.broadcast(rows) if self.count <= MOST_BROADCAST_ROWS else rows
