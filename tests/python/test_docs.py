"""What the documents say about the code is what the code says."""

import re

import yaml

import fixture_seeds
from conftest import ROOT
from dbt_tangles.autobase import check
from dbt_tangles.pzp import rules
from dbt_tangles.ssb.classic import Reason
from dbt_tangles.ssb.group_claims import GroupReason


def test_every_reason_is_documented():
    parts = re.split("^## ", (ROOT / "docs" / "reasons.md").read_text(), flags=re.M)
    of_ssb, of_groups, of_pzp, of_bases, of_events = (
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
    assert {name for name, _ in of_events} == set(values)


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
