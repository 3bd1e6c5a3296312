"""The seeds with what peers make of private groups, read from the tables of words that the examples state."""

from __future__ import annotations

from seed_files import read_words
from ssb_example import Example, flag, listed

HEADERS = {
    "expected_group_epochs": "example epoch group_root previous_epochs depth is_tip is_preferred preference"
    " is_decided_by_peers tip_count added_count excluded_count missing_count returned_count",
    "expected_group_members": "example group_root epoch person is_added is_excluded is_member added_by excluded_by"
    " is_missing is_returned",
    "expected_group_messages": "example message kind set_aside_reason group_root epoch is_connected people"
    " unchecked_count",
    "expected_group_findings": "example group_root finding epoch person messages message_count",
}


def rows_of(example: Example) -> dict[str, list[list]]:
    """Return an example's rows of each of these seeds."""
    tables = {
        "expected_group_epochs": [_epoch(row) for row in read_words(example.epochs)],
        "expected_group_members": [_member(row) for row in read_words(example.people)],
        "expected_group_messages": [_message(row) for row in read_words(example.group_messages)],
        "expected_group_findings": [_finding(row) for row in read_words(example.findings)],
    }
    return {name: [[example.name, *row] for row in rows] for name, rows in tables.items()}


def _epoch(row: dict[str, str]) -> list:
    marks = row["marks"].split()
    place = [row["epoch"], row["group"], listed(row["previous"]), row["depth"]]
    chosen = [flag("tip" in marks), flag("preferred" in marks), row["preference"], flag("no_answer" not in marks)]
    counts = [row["added"], row["excluded"], row["missing"], row["returned"]]
    return [*place, *chosen, row["tips"], *counts]


def _member(row: dict[str, str]) -> list:
    marks = row["marks"].split()
    added_by, excluded_by = listed(row["added_by"]), listed(row["excluded_by"])
    said = [flag(bool(added_by)), flag(bool(excluded_by)), flag("member" in marks), added_by, excluded_by]
    return [row["group"], row["epoch"], row["person"], *said, flag("missing" in marks), flag("returned" in marks)]


def _message(row: dict[str, str]) -> list:
    place = [row["message"], row["kind"], row["reason"], row["group"], row["epoch"]]
    return [*place, flag("connected" in row["marks"].split()), listed(row["people"]), row["unchecked"]]


def _finding(row: dict[str, str]) -> list:
    messages = row["messages"].split(",")
    return [row["group"], row["finding"], row["epoch"], row["person"], " ".join(messages), len(messages)]
