"""The table of reasons is complete: models, kernels, pages and answers use its codes and texts."""

import yaml

from conftest import ROOT
from dbt_tangles.algorithms.graph.topological_generations import CLAIM_ERROR, REASONS
from dbt_tangles.cli import messages
from dbt_tangles.formats.ssb.group_claims import MAX_ADD_RECPS, MIN_ADD_RECPS
from dbt_tangles.reasons import COLUMNS, SECTIONS, GroupReason, TangleReason, meanings, read_notes


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


def meanings_in(section: str) -> dict[str, str]:
    """Return the meaning of each code in a section of `reasons.yml`."""
    return {reason.value: reason.description for enumeration in SECTIONS[section] for reason in enumeration}


def test_reasons_yml_has_an_example_and_a_remedy_for_each_reason():
    noted = {section: note["reasons"].keys() for section, note in read_notes().items()}
    assert noted == {section: meanings_in(section).keys() for section in SECTIONS}


def test_answers_have_the_meanings():
    for section, say in {"ssb": messages.ssb, "group": messages.group, "pzp": messages.pzp}.items():
        assert meanings_in(section) == {code: say(code) for code in meanings_in(section)}
    for code, meaning in meanings_in("autobase").items():
        assert messages.autobase(code) in (meaning, messages.NOT_IN_BASE.get(code))
    for code, meaning in (meanings_in("file") | meanings_in("any")).items():
        assert messages.ssb(code) == messages.pzp(code) == messages.autobase(code) == messages.event(code) == meaning
