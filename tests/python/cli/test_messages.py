"""The table of reasons is complete: models, kernels, pages and answers use its codes and texts."""

import yaml

import reasons_page
from conftest import ROOT
from dbt_tangles.algorithms.graph.topological_generations import CLAIM_ERROR, REASONS
from dbt_tangles.cli import messages
from dbt_tangles.formats.ssb.group_claims import MAX_ADD_RECPS, MIN_ADD_RECPS
from dbt_tangles.reasons import COLUMNS, GroupReason, TangleReason, meanings


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
        "accepted_values differ from reasons.py"
    )


def test_kernels_return_codes_of_the_table():
    assert {*REASONS[CLAIM_ERROR + 1 :]} < {reason.value for reason in TangleReason}
    assert f"{MIN_ADD_RECPS} to {MAX_ADD_RECPS} (adds)" in GroupReason.BAD_RECPS_COUNT.description


def test_reasons_that_are_documented():
    page = reasons_page.sections()
    for section, say in {"ssb": messages.ssb, "group": messages.group, "pzp": messages.pzp}.items():
        assert page[section] == [(code, say(code)) for code, _ in page[section]]
    of_bases = page["autobase"]
    assert dict(of_bases[-len(messages.NOT_IN_BASE) :]) == messages.NOT_IN_BASE
    assert dict(page["event"]) == messages.NO_EVENT
    for code, meaning in of_bases[: -len(messages.NOT_IN_BASE)]:
        assert messages.autobase(code) in (meaning, messages.NOT_IN_BASE.get(code))
    assert dict(page["file"]) == messages.FILES
    for code, meaning in page["file"] + page["any"]:
        assert messages.ssb(code) == messages.pzp(code) == messages.autobase(code) == messages.event(code) == meaning
    assert dict(page["tangle"]) == messages.SET_ASIDE and dict(page["feed"]) == messages.OFF_CHAIN
