"""Each code that a table may have is said in words."""

import re

import yaml

from conftest import ROOT
from dbt_tangles.ask import words


def codes(table: str, column: str) -> set[str]:
    """The values that a model's column may have."""
    (path,) = (ROOT / "models" / "marts").rglob(f"{table}.yml")
    tests = yaml.safe_load(path.read_text())["models"][0]["data_tests"]
    (rules,) = (test["row_rules"] for test in tests if "row_rules" in test)
    return set(rules["arguments"]["accepted_values"][column])


def test_codes_of_tables():
    assert codes("tangle_messages", "set_aside_reason") == words.SET_ASIDE.keys()
    assert codes("feed_messages", "reason") == words.OFF_CHAIN.keys()


def test_reasons_that_are_documented():
    """The words are those of docs/reasons.md, but for links and what is said in brackets."""
    parts = re.split("^## ", (ROOT / "docs" / "reasons.md").read_text(), flags=re.M)
    tables = [re.findall(r"^\| `(\w+)` \| (.+) \|$", part, re.M) for part in parts]
    for say, rows in zip((words.ssb, words.group, words.pzp), tables[:3], strict=True):
        for code, meaning in rows:
            assert say(code) and meaning.startswith(say(code).rstrip(".")), code
    of_bases, of_events, of_files, of_framing = tables[3:]
    assert dict(of_bases[-len(words.NOT_IN_BASE) :]) == words.NOT_IN_BASE
    assert dict(of_events) | words.NO_EVENT == dict(of_events) | {"malformed": words.NO_EVENT["malformed"]}
    for code, meaning in of_bases[: -len(words.NOT_IN_BASE)]:
        assert words.autobase(code) in (meaning, words.NOT_IN_BASE.get(code))
    assert dict(of_files) == words.FILES
    for code, meaning in of_files + of_framing:
        assert words.ssb(code) == words.pzp(code) == words.autobase(code) == words.event(code) == meaning
