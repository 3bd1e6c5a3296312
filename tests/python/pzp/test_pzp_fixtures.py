"""The committed fixtures are validly signed, and their hand-written tables are free of slips."""

import json
from functools import partial

import pytest

import fixture_seeds
from pzp_kit import check, judge

FILES = ("growth.jsonl", "rules.jsonl", "malformed.jsonl")


expected = partial(fixture_seeds.expected, "pzp")
lines = partial(fixture_seeds.lines, "pzp")

CHECKED = {file: check(lines(file)) for file in FILES}
ROWS = [row for rows in CHECKED.values() for row in rows]
IDS = {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names("pzp", "message")}
EXAMPLES = [row["example"] for row in expected("sets")]
# The kit cannot know the keys of the account, nor that another message is named as a root.
BEYOND_THE_KIT = {"unauthorised_key", "not_a_feed"}


def ids_of(example, letters):
    return [IDS[example, letter] for letter in letters.split()]


@pytest.mark.parametrize("file", FILES)
def test_the_lines_have_their_intended_verdicts(file):
    rejects = {int(row["line"]): row["reason"] for row in expected("pzp_rejects", example=file)}
    found = {place: row["reject_reason"] for place, row in enumerate(CHECKED[file], start=1)}
    assert {place: reason for place, reason in found.items() if reason} == rejects
    assert (set(found) == set(rejects)) is (file == "malformed.jsonl")


def test_letters_are_those_of_the_log():
    in_log = {row["message_id"] for file in FILES[:2] for row in CHECKED[file]}
    accounts = {row["message_id"] for row in ROWS if row["domain"] == "account__account"}
    assert in_log - set(IDS.values()) == accounts
    assert {name for name, message in IDS.items() if message not in in_log} == {
        ("missing_middle", "B"),
        ("one_unknown", "B"),
        ("missing_root", "R"),
    }


@pytest.mark.parametrize("example", EXAMPLES)
def test_validity_is_as_stated(example):
    """If only the set itself decides."""
    root = IDS[example, "R"]
    stated = {}
    for row in expected("set_messages", example=example):
        answer = (row["is_valid"] == "true", row["reject_reason"] or None, row["is_held"] == "true")
        if row["reject_reason"] == "bad_set_data":  # The feed tangle accepts the message.
            answer = (True, None, False)
        stated[IDS[example, row["letter"]]] = answer
    found = {message: answer for (set_id, message), answer in judge(ROWS).items() if set_id == root}
    if not BEYOND_THE_KIT & {reason for _, reason, _ in stated.values()}:
        assert found == stated
    elif example == "devices":
        # Apart from their keys, they are valid.
        assert {message for message, answer in found.items() if answer != stated[message]} == set(
            ids_of(example, "C D E H")
        )
    else:
        assert example == "not_a_feed"


def test_the_growth_agrees_with_the_document():
    stated = [row for row in expected("sets") if row["example"].startswith("growth_")]
    blue = [set(row["item_roots"].split()) for row in stated]
    assert blue == [{"A"}, {"A", "B"}, {"B", "C"}, {"B", "C", "D"}, {"B", "D", "E"}]
    assert json.loads(stated[-1]["items"]) == ["bob", "carol"]


def test_ids_are_not_sorted_by_code_unit():
    ids = ids_of("collation", "A B C")
    assert sorted(ids, key=str.lower) == ids != sorted(ids)
