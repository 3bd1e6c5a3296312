"""The rows of a run, and the lines for its user."""

from types import SimpleNamespace

import pytest
from dbt_common.exceptions import CompilationError

from dbt_spark_python.run_history import (
    Run,
    RunHistory,
    _describe_mixture,
    _map,
    _model,
    _tables_of_runs,
    count_unchanged,
)


def result(status: str, message: str = "OK") -> SimpleNamespace:
    return SimpleNamespace(status=status, adapter_response={"_message": message})


def test_the_outcome_of_a_run():
    results = [result("success", "unchanged"), result("pass"), result("warn"), result("no-op"), result("runtime error")]
    assert count_unchanged(results) == 1
    assert RunHistory.describe_outcome(None, results) == "2 passed, 1 warned, 1 failed (1 unchanged)"
    assert RunHistory.describe_outcome(None, []) == "0 passed"


def test_tables_of_each_run():
    """Manifests know the run of each table; without them, the run that ends has the tables that it made."""
    found = _tables_of_runs({"a'b": ["s.two", "s.one"], "": ["s.lost"]}, "tables")
    assert found.startswith(r"case when run_id = 'a\'b' then cast(array('s.one', 's.two') as array<string>)")
    assert "s.lost" not in found
    assert _tables_of_runs(None, "tables") == "tables"
    made = _tables_of_runs(None, "tables", "run_id = 'x'", ["s.one"])
    assert made.startswith("if(run_id = 'x', cast(array('s.one')") and "array_except(tables" in made
    assert (
        _map({"k": "v'"}) == r"map_from_arrays(cast(array('k') as array<string>), cast(array('v\'') as array<string>))"
    )


def test_a_mixture_of_runs_is_described():
    rows = [("now", False, "log a", 1), ("before", True, None, 2)]
    said = _describe_mixture(rows)
    assert said[1:3] == [
        "     1 table of the run of now over log a",
        "     2 tables of the run of before over the fixtures, which did not end",
    ]
    assert _describe_mixture(rows[:1]) == _describe_mixture([*rows[:1], ("old", True, None, 0)]) == []
    assert len(_describe_mixture([("now", True, None, 0)])) == 3
    assert _describe_mixture(rows * 4)[6] == "     5 of 3 earlier runs"


@pytest.mark.parametrize("config", [{"enabled": False, "materialized": "create_if_missing"}, None])
def test_a_package_without_the_model_has_no_history(config):
    nodes = {"model.shop.runs": {"config": config}} if config else {}
    assert _model(nodes, Run("shop", "", [], {}), "runs") is None


def test_another_materialization_of_the_model_is_refused():
    node = {"name": "runs", "fqn": ["shop", "marts", "runs"], "config": {"enabled": True, "materialized": "view"}}
    with pytest.raises(CompilationError, match=r"runs must be create_if_missing, not view: .* shop: marts:, say runs:"):
        _model({"model.shop.runs": node}, Run("shop", "", [], {}), "runs")
