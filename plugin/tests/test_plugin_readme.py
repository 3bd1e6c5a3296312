"""The README's model and profile work as described."""

import re

import pytest
import yaml

from conftest import TESTS
from dbt_spark_python.fences import known_session
from plugin_projects import make_project

README = (TESTS.parent / "README.md").read_text()


def test_the_profile():
    (profile,) = re.findall(r"```yaml\n# profiles\.yml\n(.*?)```", README, re.S)
    (output,) = yaml.safe_load(profile)["shop"]["outputs"].values()
    ours = yaml.safe_load((TESTS / "profiles.yml").read_text())["plugin"]["outputs"]["local"]
    assert output.keys() <= ours.keys() and (output["type"], output["method"]) == (ours["type"], ours["method"])


@pytest.mark.both
def test_the_model(project, tmp_path):
    (model,) = re.findall(r"```python\n# models/daily\.py\n(.*?)```", README, re.S)
    folder = make_project(tmp_path / "p", {"daily.py": model, "first.sql": "select 1 as id"})
    (folder / "models" / "sources.yml").write_text("sources: [{name: shop, tables: [{name: orders}]}]\n")
    made = project("readme", folder)
    assert made.invoke("run", "--select", "first").success  # starts the session
    spark = known_session.find_session()
    spark.sql("create schema if not exists shop")
    for days, expected in (("1, 1, 2", [(1, 2), (2, 1)]), ("1, 2, 2, 3", [(1, 2), (2, 1), (3, 1)])):
        place = tmp_path / f"orders {days}"
        spark.sql(f"select explode(array({days})) as day").write.parquet(str(place))
        spark.sql("drop table if exists shop.orders")
        spark.sql(f"create table shop.orders using parquet location '{place}'")
        assert made.build("--select", "daily").asked("select day, count from readme.daily") == expected


def test_the_hook_that_checks_packages(project, tmp_path):
    """It refuses a run before its first model, and only for selected models."""
    (hook,) = re.findall(r"```yaml\n(on-run-start: .*\n)```", README)
    needy = "def model(dbt, spark):\n    dbt.config(packages=['no-such-package'])\n    return spark.range(1)\n"
    folder = make_project(tmp_path / "p", {"needy.py": needy, "plain.sql": "select 1 as id"})
    settings = yaml.safe_load((folder / "dbt_project.yml").read_text()) | yaml.safe_load(hook)
    settings["models"]["+materialized"] = "table"
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings))
    made = project("asked", folder)
    refused = made.invoke("run")
    assert not refused.success
    assert "no-such-package (not installed)" in (made.warehouse / "logs" / "asked" / "dbt.log").read_text()
    assert not (made.warehouse / "asked.db" / "plain").exists()
    assert made.build("--select", "plain").rows("plain") == [{"id": 1}]
