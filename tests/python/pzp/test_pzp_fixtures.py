"""The committed fixtures agree with the document, and have the cases that builds compare with hand-written tables."""

import json
from functools import partial

import fixture_seeds
from pzp_kit import check

expected = partial(fixture_seeds.expected, "pzp")
IDS = {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names("pzp", "message")}


def test_letters_are_those_of_the_log():
    rows = [row for file in ("growth.jsonl", "rules.jsonl") for row in check(fixture_seeds.lines("pzp", file))]
    in_log = {row["message_id"] for row in rows}
    accounts = {row["message_id"] for row in rows if row["domain"] == "account__account"}
    assert in_log - set(IDS.values()) == accounts
    lost = {name for name, message in IDS.items() if message not in in_log}
    assert lost == {("missing_middle", "B"), ("one_unknown", "B"), ("missing_root", "R")}


def test_the_growth_agrees_with_the_document():
    stated = [row for row in expected("sets") if row["example"].startswith("growth_")]
    blue = [set(row["item_roots"].split()) for row in stated]
    assert blue == [{"A"}, {"A", "B"}, {"B", "C"}, {"B", "C", "D"}, {"B", "D", "E"}]
    assert json.loads(stated[-1]["items"]) == ["bob", "carol"]


def test_ids_are_not_sorted_by_code_unit():
    ids = [IDS["collation", letter] for letter in "ABC"]
    assert sorted(ids, key=str.lower) == ids != sorted(ids)
