"""The views of an Iceberg catalog, as dbt's cache gets them, without an engine."""

from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python.adapter import SparkAdapter


def views_of(answer) -> list[tuple[str, str, str]]:
    """List the views of a schema whose `show views` returns these rows, or raises this error."""

    def execute(sql: str, fetch: bool) -> tuple[str, list]:
        assert (sql, fetch) == ("show views in s", True)
        if isinstance(answer, Exception):
            raise answer
        return "OK", answer

    found = SparkAdapter._views_of(SimpleNamespace(execute=execute, Relation=SparkAdapter.Relation), "s")
    return [(view.schema, view.identifier, view.type) for view in found]


def test_temporary_views_are_left_out():
    assert views_of([("s", "lines", False), ("", "plan", True)]) == [("s", "lines", "view")]


def test_without_iceberg_s_extension_spark_lists_no_views():
    assert views_of(DbtRuntimeError("[MISSING_CATALOG_ABILITY.VIEWS] Catalog `lake` does not support views.")) == []
    with pytest.raises(DbtRuntimeError):
        views_of(DbtRuntimeError("the catalog does not answer"))
