"""The example files for orchestrators: they run with stand-ins for Cosmos and Dagster, and fit the starter project."""

import runpy
import sys
from unittest.mock import MagicMock

import yaml

from conftest import ROOT

EXAMPLES = ROOT / "examples" / "orchestrators"


def run(name: str, monkeypatch, *modules: str) -> list[MagicMock]:
    """Run an example with stand-ins for these modules, and return them."""
    stands = [MagicMock() for _ in modules]
    for module, stand in zip(modules, stands, strict=True):
        monkeypatch.setitem(sys.modules, module, stand)
    runpy.run_path(str(EXAMPLES / name))
    return stands


def test_each_example_is_run_here_and_linked():
    page = (ROOT / "docs" / "how-to" / "orchestrators.md").read_text()
    names = {path.name for path in EXAMPLES.iterdir()}
    assert names == {"airflow_cosmos.py", "dagster_definitions.py"}
    assert all(f"(../../examples/orchestrators/{name})" in page for name in names)


def test_the_dag_of_cosmos(monkeypatch):
    """It names a profile and a target of the starter project and leaves out our tests; Airflow takes it for a DAG."""
    cosmos, _ = run("airflow_cosmos.py", monkeypatch, "cosmos", "cosmos.constants")
    (dag,) = cosmos.DbtDag.call_args_list
    assert dag.kwargs["max_active_runs"] == 1 and dag.kwargs["operator_args"]["env"].keys() == {"TANGLES_WAREHOUSE"}
    (profile,) = cosmos.ProfileConfig.call_args_list
    profiles = yaml.safe_load((ROOT / "profiles.yml").read_text())
    assert profile.kwargs["target_name"] in profiles[profile.kwargs["profile_name"]]["outputs"]
    (rendered,) = cosmos.RenderConfig.call_args_list
    assert rendered.kwargs["exclude"] == ["tag:tangles_tests"]
    text = (EXAMPLES / "airflow_cosmos.py").read_text().lower()
    assert "airflow" in text and "dag" in text


def test_the_definitions_of_dagster(monkeypatch):
    """The assets are all models without our tests, built by one command."""
    dagster, of_dbt = run("dagster_definitions.py", monkeypatch, "dagster", "dagster_dbt")
    (assets,) = of_dbt.dbt_assets.call_args_list
    assert assets.kwargs["exclude"] == "tag:tangles_tests"
    (build,) = of_dbt.dbt_assets.return_value.call_args.args
    dbt = MagicMock()
    assert list(build("context", dbt)) == list(dbt.cli.return_value.stream.return_value)
    dbt.cli.assert_called_once_with(["build"], context="context")
    assert dagster.Definitions.call_args.kwargs["resources"].keys() == {"dbt"}
