"""Each code that a table may have is said in words."""

import re

import yaml

from conftest import ROOT
from dbt_tangles.cli import messages


def codes(table: str, column: str) -> set[str]:
    """The values that a model's column may have."""
    (path,) = (ROOT / "models" / "marts").rglob(f"{table}.yml")
    tests = yaml.safe_load(path.read_text())["models"][0]["data_tests"]
    (rules,) = (test["row_rules"] for test in tests if "row_rules" in test)
    return set(rules["arguments"]["accepted_values"][column])


def test_codes_of_tables():
    assert codes("tangle_messages", "set_aside_reason") == messages.SET_ASIDE.keys()
    assert codes("feed_messages", "reason") == messages.OFF_CHAIN.keys()


def test_reasons_that_are_documented():
    """The words are those of docs/reference/reasons.md, but for links and what is said in brackets."""
    parts = re.split("^## ", (ROOT / "docs" / "reference" / "reasons.md").read_text(), flags=re.M)
    tables = [re.findall(r"^\| `(\w+)` \| (.+) \|$", part, re.M) for part in parts]
    for say, rows in zip((messages.ssb, messages.group, messages.pzp), tables[:3], strict=True):
        for code, meaning in rows:
            assert say(code) and meaning.startswith(say(code).rstrip(".")), code
    of_bases, of_events, of_files, of_framing = tables[3:]
    assert dict(of_bases[-len(messages.NOT_IN_BASE) :]) == messages.NOT_IN_BASE
    assert dict(of_events) | messages.NO_EVENT == dict(of_events) | {"malformed": messages.NO_EVENT["malformed"]}
    for code, meaning in of_bases[: -len(messages.NOT_IN_BASE)]:
        assert messages.autobase(code) in (meaning, messages.NOT_IN_BASE.get(code))
    assert dict(of_files) == messages.FILES
    for code, meaning in of_files + of_framing:
        assert messages.ssb(code) == messages.pzp(code) == messages.autobase(code) == messages.event(code) == meaning
