"""Types that restrict their writers: messages of other authors are set aside, in any order and in any nights."""

import random

import pytest

from lettered_log import LetteredLog

SELECTED = ("--select", "+tangle_messages", "+records", "+record_fields")
TYPES = [
    {"tangle_name": "diary", "writers": "root_author", "reducer": {"mood": "overwrite"}},
    {"tangle_name": "page", "writers": "root_field", "writers_field": "editors", "reducer": {"editors": "complex_set"}},
]


@pytest.fixture(scope="module")
def log() -> LetteredLog:
    """A diary of Alice, a page with Bob as an editor, and a page for every author."""
    made = LetteredLog("writers")
    made.say("A", "alice", "diary", mood={"set": "calm"})
    made.say("B", "alice", "diary", "A", "A", mood={"set": "glad"})
    made.say("C", "bob", "diary", "A", "B", mood={"set": "sad"})
    made.say("D", "alice", "diary", "A", "BC", mood={"set": "late"})
    editors = {made.feed("bob"): {"1": 1}, made.feed("carol"): {"1": -1}}
    made.say("P", "alice", "page", editors=editors)
    made.say("Q", "bob", "page", "P", "P")
    made.say("R", "carol", "page", "P", "Q", editors={made.feed("carol"): {"2": 1}})
    # Bob adds Carol, but only the root decides.
    made.say("S", "bob", "page", "P", "Q", editors={made.feed("carol"): {"3": 2}})
    made.say("T", "carol", "page", "P", "S")
    made.say("U", "alice", "page", "P", "S")
    made.say("V", "alice", "page", editors={"*": {"0": 1}})
    made.say("W", "carol", "page", "V", "V")
    return made


REASONS = {letter: None for letter in "ABPQSUVW"} | {
    "C": "not_a_writer",
    "D": "missing_previous",
    "R": "not_a_writer",
    "T": "not_a_writer",
}


def build(project, schema: str, lines: list[bytes], **variables):
    return project(schema, **{"tangle_types": TYPES, **variables}).given(ssb_log=lines).run(*SELECTED)


def reasons(built, log: LetteredLog) -> dict[str, str | None]:
    """The reason of each message, by letter."""
    letters = {each: letter for letter, each in log.ids.items()}
    rows = [row for row in built.rows("tangle_messages") if row["tangle_name"] in ("diary", "page")]
    return {letters[row["message_id"]]: row["set_aside_reason"] for row in rows}


def check(built, log: LetteredLog) -> None:
    assert reasons(built, log) == REASONS
    blocked = {row["message_id"]: row["blocked_by"] for row in built.rows("tangle_messages")}
    assert blocked[log.ids["D"]] == [log.ids["C"]]
    fields = {(row["root_id"], row["field"]): row for row in built.rows("record_fields")}
    assert fields[log.ids["A"], "mood"]["value"] == '"glad"'
    carol = f'"{log.feed("carol")}":[{{"start":3,"end":null}}]'
    assert carol in fields[log.ids["P"], "editors"]["value"]
    assert sorted(fields[log.ids["P"], "editors"]["set_by"]) == sorted([log.ids["P"], log.ids["S"]])


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_verdicts_do_not_depend_on_order_or_nights(project, log, seed):
    """The root may come after the messages that it refuses."""
    lines = random.Random(seed).sample(log.lines, len(log.lines))
    first = build(project, f"writers_{seed}", lines[:6])
    assert len(reasons(first, log)) == 6
    check(build(project, f"writers_{seed}", lines), log)


@pytest.mark.long
def test_another_rule_and_another_root(project, log):
    """A var may change the writers, and without verified ids a root may name others."""
    variables = {"verify_signatures": False}
    carol, bob = (log.feed(name).encode() for name in ("carol", "bob"))
    swapped = [
        line.replace(bob, b"~").replace(carol, bob).replace(b"~", carol)
        if b'"editors"' in line and b'"root":null' in line.replace(b" ", b"")
        else line
        for line in log.lines
    ]
    changed = reasons(build(project, "writers_changed", swapped, **variables), log)
    assert changed == REASONS | {"Q": "not_a_writer", "R": "missing_previous", "S": "not_a_writer"} | {
        "T": "missing_previous",
        "U": "missing_previous",
    }
    open_types = [{"tangle_name": name, "writers": "anyone"} for name in ("diary", "page")]
    built = build(project, "writers_changed", log.lines, **variables, tangle_types=open_types)
    assert set(reasons(built, log).values()) == {None}
    assert built.rows("records") == []
