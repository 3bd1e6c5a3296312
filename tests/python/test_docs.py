"""What the documents say about the code is what the code says."""

import json
import re

import pytest
import yaml

import fixture_seeds
from conftest import ROOT
from dbt_spark_python.unpack import FAULTS
from dbt_tangles.autobase import check
from dbt_tangles.pzp import rules
from dbt_tangles.ssb.classic import Reason
from dbt_tangles.ssb.group_claims import GroupReason


def test_every_reason_is_documented():
    parts = re.split("^## ", (ROOT / "docs" / "reasons.md").read_text(), flags=re.M)
    of_ssb, of_groups, of_pzp, of_bases, of_events, of_files = (
        re.findall(r"^\| `(\w+)` \| (.+) \|$", part, re.M) for part in parts
    )
    assert dict(of_ssb).pop("id_collision")
    assert of_ssb[:-1] == [(reason.value, reason.description) for reason in Reason]
    assert of_groups[:-2] == [(reason.value, reason.description) for reason in GroupReason]
    assert [name for name, _ in of_groups[-2:]] == ["unconnected_epoch", "unknown_epoch"]
    assert of_pzp == [(reason.value, reason.description) for reason in rules.Reason]
    assert of_bases[: len(check.Reason)] == [(reason.value, reason.description) for reason in check.Reason]
    rejected = {row["reason"] for row in fixture_seeds.read("autobase", "expected_autobase_rejects")}
    documented = {name for name, _ in of_bases}
    assert documented - rejected == {"too_long"} and rejected <= documented
    rejects = yaml.safe_load((ROOT / "models" / "marts" / "timelines" / "timeline_rejects.yml").read_text())
    reason = next(column for column in rejects["models"][0]["columns"] if column["name"] == "reason")
    values = reason["data_tests"][0]["accepted_values"]["arguments"]["values"]
    assert {name for name, _ in of_events + of_files} == set(values)
    assert of_files == list(FAULTS.items())


def test_every_var_is_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    assert [name for name in project["vars"] if f"| `{name}` |" not in readme] == []


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_public_model_is_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for model in (ROOT / "models" / "marts").rglob("*.sql"):
        assert f"`{model.stem}`" in readme, model.stem
        assert model.with_suffix(".yml").exists(), model.stem


def test_every_macro_is_documented():
    documented = {macro["name"] for macro in yaml.safe_load((ROOT / "macros" / "_macros.yml").read_text())["macros"]}
    for file in (ROOT / "macros").rglob("*.sql"):
        for name in re.findall(r"\{%-? *macro (\w+)", file.read_text()):
            assert name in documented, name


@pytest.fixture(scope="module")
def nodes(fixtures) -> dict[str, dict]:
    """Read what dbt knows of the project."""
    return json.loads((fixtures.warehouse / "target" / fixtures.schema / "manifest.json").read_text())["nodes"]


@pytest.fixture(scope="module")
def models(nodes) -> dict[str, dict]:
    """Pick the models."""
    found = {key: node for key, node in nodes.items() if node["resource_type"] == "model"}
    assert len(found) > len(list((ROOT / "models" / "marts").rglob("*.sql")))
    return found


def test_every_model_has_a_test_of_its_grain(nodes, models):
    """A test that no two rows are of one thing, whatever else is tested."""
    # Tests of one model's rows; those that compare tables are attached to none.
    tests = [node for node in nodes.values() if node.get("attached_node")]
    told_apart = {test["attached_node"] for test in tests if test["test_metadata"]["name"].startswith("unique")}
    assert sorted(models.keys() - told_apart) == []


def test_every_built_column_is_described(models):
    """Tables and views have the columns that are described, and no others; so they are described themselves."""
    from pyspark.sql import SparkSession

    differing = {}
    for model in models.values():
        assert model["description"].strip(), model["name"]
        described = {name for name, column in model["columns"].items() if column["description"].strip()}
        built = set(SparkSession.active().table(model["relation_name"]).columns)
        if built != described:
            differing[model["name"]] = {"not described": built - described, "not built": described - built}
    assert differing == {}


def test_the_version_is_said_once(fixtures):
    """In dbt_project.yml and pyproject.toml, and in `runs`, whose macro cannot read them."""
    version = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["version"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    assert {row["project_version"] for row in fixtures.rows("runs")} == {version}
