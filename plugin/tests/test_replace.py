"""The rows of changed groups are replaced; files of large tables without such rows stay unchanged."""

import pyarrow.parquet as pq
import pytest

from dbt_spark_python.incremental import replace
from dbt_spark_python.incremental.earlier import changed_groups, rows_of_groups
from dbt_spark_python.incremental.replace import begin_replacement
from dbt_spark_python.incremental.tables import ChangedGroups
from dbt_spark_python.session import connection
from dbt_spark_python.table_store.public_folders import Publication

pytestmark = pytest.mark.both

COLUMNS = "shop string, day int, amount bigint"
ROWS = {  # by file
    "a": [("a", 1, 1), ("a", 2, 2)],
    "b": [("b", 1, 3), (None, 1, 4)],
    "c": [("c", 1, 5)],
    "d": [("d", 1, 6), ("a", 3, 7)],
}


class Table:
    """A published table of four files, in which rows are replaced."""

    def __init__(self, catalog, spark, name: str, by: str = "") -> None:
        self.catalog, self.spark, self.name, self.by = catalog, spark, name, by
        catalog.make_schema("replaced")
        self._write(name, [])
        for rows in ROWS.values():
            self._add(name, rows)
        self.publish()

    def _write(self, name: str, rows: list) -> None:
        self.spark.sql(f"drop table if exists replaced.{name}")
        self.catalog.clear_leftovers("replaced", name)
        self.spark.sql(f"create table replaced.{name} ({COLUMNS}) using parquet {self.by}")
        if rows:
            self._add(name, rows)

    def _add(self, name: str, rows: list) -> None:
        self.spark.createDataFrame(rows, COLUMNS).coalesce(1).write.insertInto(f"replaced.{name}")

    def publish(self) -> None:
        """Publish the new table."""
        self.catalog.warehouse.begin_writing()
        self.catalog.publish("replaced", self.name, "run", Publication())

    def files(self) -> dict[int, int]:
        """The rows in each data file, by inode."""
        place = self.catalog.warehouse.public_place("replaced", self.name)
        found = {path.stat().st_ino: pq.read_metadata(path).num_rows for path in place.glob("*.parquet")}
        return {inode: count for inode, count in found.items() if count}

    def replace(self, rows: list, *groups: str, key_columns=("shop", "day"), key: str = "shop") -> dict | None:
        """Replace the rows of groups, as a materialization does."""
        new, versions = f"{self.name}__next", f"{self.name}_versions"
        keys = self.spark.createDataFrame([(group, 2) for group in groups], "group_key string, version int")
        keys.createOrReplaceTempView(versions)
        changed = ChangedGroups(key, versions, "group_key", 1)
        replacement = begin_replacement(self.catalog, ("replaced", self.name), changed)
        self._write(new, rows)
        if replacement.kept is not None:
            replacement.kept.write.insertInto(f"replaced.{new}")
        changes = replacement.finish(new, key_columns and list(key_columns))
        self.spark.sql(f"drop table replaced.{self.name}")
        if not self.catalog.rename("replaced", new, self.name):
            self.spark.sql(f"alter table replaced.{new} rename to replaced.{self.name}")
        self.publish()
        return changes and tuple(changes.values())

    def rows(self) -> list[tuple]:
        """The rows, as a reader finds them in the catalog."""
        return sorted(map(tuple, self.spark.table(f"replaced.{self.name}").collect()), key=repr)


def but(*shops, new=()) -> list[tuple]:
    """The rows of all other groups, and new ones."""
    return sorted([*(row for rows in ROWS.values() for row in rows if row[0] not in shops), *new], key=repr)


@pytest.fixture(autouse=True)
def large_tables(monkeypatch):
    monkeypatch.setattr(replace, "LEAST_BYTES", 0)


@pytest.fixture
def make_table(spark, schema):
    """Create a table for one test, in the warehouse of this process."""
    return lambda by="": Table(connection._catalog, spark, schema, by)


@pytest.fixture
def table(make_table):
    return make_table()


def test_files_without_a_changed_group_stay(table):
    before, new = table.files(), [("a", 1, 1), ("a", 2, 20), ("a", 4, 8)]
    assert table.rows() == but()
    assert table.replace([], "another") == (0, 0, 0)
    assert (table.files(), table.rows()) == (before, but())
    assert table.replace(new, "a") == (1, 1, 1)
    assert table.rows() == but("a", new=new)
    assert len(before.keys() & table.files().keys()) == 2

    # Again: its rows are now in one file, with one row of another group.
    before = table.files()
    assert table.replace([("c", 1, 50)], "c", key_columns=None) is None, "changes need not be counted"
    assert len(before.keys() - table.files().keys()) == 1
    assert table.rows() == but("a", "c", new=[*new, ("c", 1, 50)])


def test_groups_that_are_gone_and_new_ones(table):
    assert table.replace([("new", 1, 9)], "c", "new", "never was") == (1, 0, 1)
    assert table.rows() == but("c", new=[("new", 1, 9)])
    assert table.replace([], "a", "b", "new", "d", "") == (0, 0, 7)
    assert table.rows() == []
    assert table.replace([("a", 1, 1)], "a") == (1, 0, 0)
    assert table.rows() == [("a", 1, 1)]


def test_a_key_that_is_null_is_the_empty_text(table):
    before = table.files()
    assert table.replace([(None, 1, 40), ("", 2, 41)], "") == (1, 1, 0)
    assert table.rows() == but(None, new=[(None, 1, 40), ("", 2, 41)])
    assert len(before.keys() & table.files().keys()) == 3


def test_a_key_that_is_an_expression(table):
    assert table.replace([("a", 1, 10)], "1", key="day") == (0, 1, 4)
    assert table.rows() == [("a", 1, 10), ("a", 2, 2), ("a", 3, 7)]


@pytest.mark.parametrize(("limit", "value"), [("MOST_FILES", 4), ("LEAST_BYTES", 1 << 20)])
def test_a_table_of_many_files_or_few_bytes_is_written_in_full(table, monkeypatch, limit, value):
    monkeypatch.setattr(replace, limit, value)
    before = table.files()
    assert len(before) == 4
    assert table.replace([("c", 1, 50)], "c") == (0, 1, 0)
    assert table.rows() == but("c", new=[("c", 1, 50)])
    assert not before.keys() & table.files().keys()


def test_a_table_in_partitions(make_table):
    table = make_table("partitioned by (amount)")
    assert table.rows() == but()
    assert table.replace([("a", 1, 1), ("a", 2, 20)], "a") == (0, 1, 1)
    assert table.rows() == but("a", new=[("a", 1, 1), ("a", 2, 20)])
    place = table.catalog.warehouse.public_place("replaced", table.name)
    assert {path.name for path in place.glob("amount=*")} == {f"amount={n}" for n in (1, 20, 3, 4, 5, 6)}


@pytest.mark.spark
@pytest.mark.parametrize("are_few", [True, False])
def test_the_keys_of_few_groups_are_broadcast(spark, capsys, are_few):
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        versions = spark.range(9).selectExpr("cast(id as string) as group_key", "id as version")
        keys = changed_groups(versions, 6, are_few=are_few)
        rows = rows_of_groups(spark.range(99).selectExpr("cast(id as string) as shop"), "shop", keys)
        assert sorted(row.shop for row in rows.collect()) == ["7", "8"]
        rows.explain()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert ("BroadcastHashJoin" in capsys.readouterr().out) == are_few
