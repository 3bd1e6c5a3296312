"""Manifests of Iceberg and Delta tables, without an engine: which commits keep a table current, and which do not."""

import re
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from pyspark.errors import PySparkException

from dbt_spark_python.incremental import snapshot_tables
from dbt_spark_python.incremental.snapshot_tables import PROPERTY, SnapshotTables
from dbt_spark_python.incremental.table_formats import TOO_OLD, Delta, Iceberg, drop_iceberg
from dbt_spark_python.table_store.public_folders import Publication

ORIGIN = Publication({"code": "it's \\ 1"}, {"model.shop.orders": "1"}, {"history": "h 0", "since": 1, "upto": 2})


def iceberg_has_rows(current: str, noted: str, *replacing: tuple[str, str | None]) -> bool:
    """Ask whether an Iceberg table has the rows of a snapshot; `replacing` are ids with their parents."""
    properties = {"current-snapshot-id": current}
    found = Iceberg().current_with_rows_of(lambda sql: list(replacing), "s.t", properties, noted)
    assert found in (None, current)
    return found is not None


def test_iceberg_compares_the_current_snapshot_without_compactions():
    assert iceberg_has_rows("7", "7")
    assert not iceberg_has_rows("8", "7")
    assert iceberg_has_rows("9", "7", ("8", "7"), ("9", "8"))
    assert iceberg_has_rows("9", "8", ("8", "7"), ("9", "8"))
    assert not iceberg_has_rows("9", "6", ("8", "7"), ("9", "8"))
    assert not iceberg_has_rows("9", "7", ("9", "8"))  # 8 was a write, or has expired
    assert not iceberg_has_rows("7", "8", ("8", "7"))  # rolled back
    assert not iceberg_has_rows("9", "7", ("9", None))
    assert not iceberg_has_rows("9", "7", ("9", "9"))


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([], True),
        (["SET TBLPROPERTIES"], True),
        (["SET TBLPROPERTIES", "CHANGE COLUMN", "OPTIMIZE", "VACUUM START", "VACUUM END"], True),
        (["SET TBLPROPERTIES", "WRITE"], False),
        (["MERGE", "SET TBLPROPERTIES"], False),
        (["RESTORE"], False),
        (["an operation of a later release"], False),
        (["SET TBLPROPERTIES"] * 60, False),  # more than are read
    ],
)
def test_delta_reads_the_commits_since_the_noted_version(later, expected):
    operations = ["CREATE OR REPLACE TABLE AS SELECT", "MERGE", *later]

    def execute(sql: str) -> list[tuple]:
        limit = int(re.search(r"limit (\d+)", sql)[1])
        return [(at, None, None, None, operation) for at, operation in enumerate(operations)][::-1][:limit]

    current = str(len(operations) - 1)
    assert Delta().current(execute, "s.t", {}) == current
    assert Delta().current_with_rows_of(execute, "s.t", {}, "1") == (current if expected else None)
    # A later version than the current one: the table was restored.
    assert Delta().current_with_rows_of(execute, "s.t", {}, str(len(operations))) is None


class Catalog:
    """A catalog with one Iceberg table, `s.t`."""

    def __init__(self) -> None:
        self.properties = {"format": "iceberg/parquet", "current-snapshot-id": "1"}
        self.statements: list[str] = []
        self.snapshots: list[tuple[str, str]] = []  # those of the operation `replace`, with their parents

    def execute(self, sql: str) -> list[tuple]:
        """Run one of the statements that planned runs need."""
        self.statements.append(sql)
        if sql.startswith("show tblproperties"):
            return list(self.properties.items())
        if ".snapshots " in sql:
            return self.snapshots
        if "current_catalog" in sql:
            return [("lake",)]
        if sql.startswith("alter table"):
            key, value = re.search(r"set tblproperties \('(.+?)' = '(.*)'\)$", sql, re.DOTALL).groups()
            self.properties[key] = re.sub(r"\\(.)", r"\1", value)
        return []

    def tables(self, *names: str, session=None) -> SnapshotTables:
        """The tables as one command sees them."""
        return SnapshotTables(self.execute, lambda schema: names or ["t"], lambda: session)

    def manifest(self) -> dict:
        """The manifest as a later command reads it."""
        return self.tables().manifest_of("s", "t")


@pytest.fixture
def catalog() -> Catalog:
    """A catalog whose table a first run has published."""
    made = Catalog()
    made.tables().publish("s", "t", "first", ORIGIN)
    return made


def test_a_manifest_is_that_of_the_snapshot_it_names():
    catalog = Catalog()
    tables = catalog.tables()
    assert tables.manifest_of("s", "t") == {}
    tables.publish("s", "t", "run", ORIGIN)
    for seen in (tables, catalog.tables()):  # in this command, and in a later one
        noted = seen.manifest_of("s", "t")
        assert {key: noted[key] for key in ("definition", "inputs", "groups")} == ORIGIN.origin()
        assert (noted["content"], noted["run_id"], noted["changed_in"]) == ("1", "run", "run")
        assert [table.snapshot for table in seen.published("s")] == ["1"]
    catalog.properties["current-snapshot-id"] = "2"
    assert catalog.tables().manifest_of("s", "t") == {}
    assert catalog.tables().published("s") == []


def test_a_table_whose_rows_stay_equal_keeps_the_run_of_its_last_change(monkeypatch):
    catalog = Catalog()
    changes = dict(zip(("rows_added", "rows_changed", "rows_removed"), (1, 0, 0), strict=True))
    for run, counted in (("first", changes), ("second", dict.fromkeys(changes, 0)), ("third", changes)):
        tables = catalog.tables()
        tables.manifest_of("s", "t")
        catalog.properties["current-snapshot-id"] = run
        monkeypatch.setattr(tables, "_count", lambda *_, counted=counted: counted)
        tables.publish("s", "t", run, ORIGIN)
        (table,) = catalog.tables().published("s")
        assert (table.changed_in, table.changes) == ("third" if run == "third" else "first", changes)


@pytest.mark.parametrize("condition", [None, *TOO_OLD, "TABLE_OR_VIEW_NOT_FOUND"])
def test_changed_rows_are_counted_against_the_current_snapshot(catalog, monkeypatch, condition):
    """They are not counted if it is too old to be read; another error is raised."""
    asked, failure, counted = [], PySparkException("it fails"), None if condition else {"rows_added": 1}
    failure.getCondition = lambda: condition

    def ask(sql: str) -> None:
        asked.append(sql)
        if condition:
            raise failure

    monkeypatch.setattr(snapshot_tables, "count_changes", lambda before, after, publication: counted)
    catalog.properties["current-snapshot-id"], catalog.snapshots = "2", [("2", "1")]
    tables = catalog.tables(session=SimpleNamespace(sql=ask, table=lambda name: name))
    assert tables.manifest_of("s", "t")["content"] == "1"
    catalog.properties["current-snapshot-id"] = "3"
    with nullcontext() if condition in (None, *TOO_OLD) else pytest.raises(PySparkException):
        tables.publish("s", "t", "second", ORIGIN._replace(key_columns=["a"]))
        (table,) = catalog.tables().published("s")
        assert (table.changed_in, table.changes, table.snapshot) == ("second", counted, "3")
    assert asked == ["select * from `s`.`t` version as of 2"]


@pytest.mark.parametrize(
    ("properties", "days", "of_commits"),
    [({}, 7, 30), ({"delta.deletedFileRetentionDuration": "interval 7 days"}, 7, None), ({}, 90, 90)],
)
def test_vacuum_obeys_the_retention_that_maintenance_sets(properties, days, of_commits):
    statements: list[str] = []
    Delta().maintain(statements.append, "s.t", properties, days)
    *settings, optimized, vacuumed = statements
    assert (optimized, vacuumed) == ("optimize s.t", "vacuum s.t")
    retention = f"('delta.deletedFileRetentionDuration' = 'interval {days} days', 'delta.logRetentionDuration' = "
    expected = [f"alter table s.t set tblproperties {retention}'interval {of_commits} days')"]
    assert settings == (expected if of_commits else [])


@pytest.mark.parametrize("text", ["{", "[]", '{"content": 1}', '{"content": "1", "groups": 5}', "{}"])
def test_a_manifest_that_cannot_be_used_is_ignored(catalog, text):
    for written in (text, text.encode().hex(), "ff"):
        catalog.properties[PROPERTY] = written
        assert catalog.manifest() == {}


def test_spark_withholds_no_manifest(catalog):
    """It withholds values with these words; see `spark.sql.redaction.options.regex` and `spark.redaction.regex`."""
    catalog.tables().publish("s", "t", "run", ORIGIN._replace(inputs={"model.shop.url_tokens_secret_password": "1"}))
    assert re.fullmatch("[0-9a-f]+", catalog.properties[PROPERTY])
    assert [*catalog.manifest()["inputs"]] == ["model.shop.url_tokens_secret_password"]


def test_the_format_of_a_table_is_read_with_its_manifest_and_when_it_is_published():
    catalog = Catalog()
    assert catalog.tables("other").manifest_of("s", "t") == {}
    assert catalog.statements == []
    tables = catalog.tables()
    tables.manifest_of("s", "t")
    formats = ("iceberg", "delta", "iceberg")
    assert [tables.replaces_in_place("s", "t", name) for name in formats] == [True, False, True]
    catalog.properties = {"transient_lastDdlTime": "1"}
    tables.publish("s", "t", "run", ORIGIN)
    assert {*catalog.statements} == {"show tblproperties `s`.`t`"}, "no `alter table`"
    assert catalog.manifest() == {}
    assert not tables.replaces_in_place("s", "t", "iceberg")
    assert [tables.replaces_in_place("s", "other", name) for name in ("delta", "parquet")] == [True, False]


def test_a_table_whose_files_must_stay_is_dropped_without_them():
    statements: list[str] = []

    def refuse(sql: str) -> None:
        statements.append(sql)
        if sql.endswith("purge"):
            raise RuntimeError("Cannot purge table: GC is disabled (deleting files may corrupt other tables)")

    drop_iceberg(refuse, "s.t")
    assert statements == ["drop table if exists s.t purge", "drop table if exists s.t"]

    def fail(sql: str) -> None:
        raise RuntimeError("the catalog does not answer")

    with pytest.raises(RuntimeError, match="does not answer"):
        drop_iceberg(fail, "s.t")


def test_a_run_names_no_snapshot_of_a_table_whose_node_failed_after_its_commit(catalog):
    tables = catalog.tables()
    assert tables.manifest_of("s", "t")["snapshot"] == "1"
    catalog.properties["current-snapshot-id"] = "2"
    assert tables.published("s", {("s", "t")}) == []
