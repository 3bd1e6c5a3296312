"""The table of reasons is complete: models, kernels, pages and answers use its codes and texts."""

import pytest
import yaml

from conftest import ROOT
from dbt_tangles.algorithms.graph.topological_generations import CLAIM_ERROR, REASONS
from dbt_tangles.cli import messages
from dbt_tangles.formats.ssb.group_claims import MAX_ADD_RECPS, MIN_ADD_RECPS
from dbt_tangles.reasons import COLUMNS, ENUMERATIONS, GroupReason, TangleReason, meanings


def accepted_values() -> dict[str, set[str]]:
    """Return the accepted values of the models' row rules, by table and column."""
    found = {}
    for path in (ROOT / "models" / "marts").rglob("*.yml"):
        for model in yaml.safe_load(path.read_text()).get("models", ()):
            for test in model.get("data_tests", ()):
                for column, values in test.get("row_rules", {}).get("arguments", {}).get("accepted_values", {}).items():
                    found[f"{model['name']}.{column}"] = set(values)
    return found


def test_models_accept_the_codes_of_the_table():
    accepted = {column: values for column, values in accepted_values().items() if column in COLUMNS}
    rejects = {column for column in COLUMNS if column.endswith("_rejects.reason")}
    assert accepted.keys() >= {"tangle_messages.set_aside_reason", "feed_messages.reason", *rejects}
    assert len(rejects) == 4
    assert accepted == {column: meanings(column).keys() for column in accepted}, (
        "accepted_values differ from reasons.csv"
    )


def test_kernels_return_codes_of_the_table():
    assert {*REASONS[CLAIM_ERROR + 1 :]} < {reason.value for reason in TangleReason}
    assert f"{MIN_ADD_RECPS} to {MAX_ADD_RECPS} (adds)" in GroupReason.BAD_RECPS_COUNT.description


def test_the_page_on_reasons_has_each_enumeration_once():
    sections = yaml.safe_load((ROOT / "docs" / "site" / "reasons.yml").read_text()).values()
    assert sorted(name for section in sections for name in section["enumerations"]) == sorted(ENUMERATIONS)


def test_each_reason_has_a_meaning_an_example_and_a_remedy():
    reasons = [reason for enumeration in ENUMERATIONS.values() for reason in enumeration]
    assert all(reason.description.endswith(".") and reason.example and reason.remedy for reason in reasons)


@pytest.mark.parametrize(
    ("say", "column"),
    [
        (messages.ssb, "ssb_rejects.reason"),
        (messages.group, "group_messages.set_aside_reason"),
        (messages.pzp, "pzp_rejects.reason"),
        (messages.pzp, "set_messages.reject_reason"),
        (messages.autobase, "autobase_rejects.reason"),
        (messages.event, "timeline_rejects.reason"),
    ],
)
def test_answers_have_the_meanings(say, column):
    assert {code: say(code) for code in meanings(column)} == meanings(column)
