"""The statements that drop tables and list views of Iceberg, without an engine."""

from types import SimpleNamespace

import pytest
from dbt.adapters.spark import impl
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python.adapter import SparkPythonAdapter
from dbt_spark_python.session import connection


@pytest.mark.parametrize(
    ("kind", "is_iceberg", "expected"),
    [
        ("table", True, ["t", "drop table if exists s.t purge"]),
        ("view", True, ["dbt-spark"]),
        ("table", False, ["dbt-spark"]),
    ],
)
def test_a_table_is_dropped_with_its_files(monkeypatch, kind, is_iceberg, expected):
    """REST, JDBC and Hive catalogs keep the files of tables dropped without `purge`. dbt-spark drops all others."""
    said = []
    adapter = SparkPythonAdapter.__new__(SparkPythonAdapter)
    adapter.config = SimpleNamespace(credentials=None)
    adapter.execute, adapter.cache_dropped = said.append, lambda relation: said.append(relation.identifier)
    monkeypatch.setattr(connection, "catalog_of", lambda credentials: None)
    monkeypatch.setattr(impl.SparkAdapter, "drop_relation", lambda adapter, relation: said.append("dbt-spark"))
    adapter.drop_relation(
        SparkPythonAdapter.Relation.create(schema="s", identifier="t", type=kind, is_iceberg=is_iceberg)
    )
    assert said == expected


def views_of(answer) -> list[tuple[str, str, str]]:
    """List the views of a schema whose `show views` returns these rows, or raises this error."""

    def fetch_rows(sql: str) -> list[tuple]:
        assert sql == "show views in s"
        if isinstance(answer, Exception):
            raise answer
        return answer

    adapter = SimpleNamespace(fetch_rows=fetch_rows, Relation=SparkPythonAdapter.Relation)
    found = SparkPythonAdapter._views_of(adapter, "s")
    return [(view.schema, view.identifier, view.type) for view in found]


def test_temporary_views_are_left_out():
    assert views_of([("s", "lines", False), ("", "plan", True)]) == [("s", "lines", "view")]


def test_without_iceberg_s_extension_spark_lists_no_views():
    assert views_of(DbtRuntimeError("[MISSING_CATALOG_ABILITY.VIEWS] Catalog `lake` does not support views.")) == []
    with pytest.raises(DbtRuntimeError):
        views_of(DbtRuntimeError("the catalog does not answer"))
