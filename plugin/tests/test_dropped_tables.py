"""The statements that drop tables and views of Iceberg, without an engine."""

from types import SimpleNamespace

import pytest
from dbt.adapters.spark import impl

from dbt_spark_python.adapter import SparkAdapter
from dbt_spark_python.session import connection


def dropped(monkeypatch, kind: str, is_iceberg: bool) -> list:
    """Drop a relation; return the plugin's statement and the relation that left dbt's cache, or dbt-spark's word."""
    said = []
    adapter = SparkAdapter.__new__(SparkAdapter)
    adapter.config = SimpleNamespace(credentials=None)
    adapter.execute, adapter.cache_dropped = said.append, lambda relation: said.append(relation.identifier)
    monkeypatch.setattr(connection, "catalog_of", lambda credentials: None)
    monkeypatch.setattr(impl.SparkAdapter, "drop_relation", lambda adapter, relation: said.append("dbt-spark"))
    adapter.drop_relation(SparkAdapter.Relation.create(schema="s", identifier="t", type=kind, is_iceberg=is_iceberg))
    return said


def test_a_table_is_dropped_with_its_files(monkeypatch):
    """The catalogs REST, JDBC and Hive keep the files of a table that is dropped without `purge`."""
    assert dropped(monkeypatch, "table", True) == ["t", "drop table if exists s.t purge"]


@pytest.mark.parametrize(("kind", "is_iceberg"), [("view", True), ("table", False)])
def test_dbt_spark_drops_views_and_other_tables(monkeypatch, kind, is_iceberg):
    assert dropped(monkeypatch, kind, is_iceberg) == ["dbt-spark"]
