"""Limits, ties, hostile sizes, and cases that define terms."""

import time

import pytest

from dbt_tangles.algorithms.private_group import members, preference
from group_oracle import oracle
from group_tables import add, exclude, init, reduced


def chain(count: int) -> list[dict]:
    """Build a group of successive epochs; the first is g."""
    ids = ["g", *(f"e{number:02}" for number in range(1, count))]
    return [init(epoch_id, [ids[at - 1]] if at else None) for at, epoch_id in enumerate(ids)]


def preferred(rows: list[dict]) -> tuple[str, list[str]]:
    epochs, _, _ = reduced(rows)
    (preference,) = {row["preference"] for row in epochs.values()}
    return preference, [row["epoch_id"] for row in epochs.values() if row["is_preferred"]]


def fork(left: list[str], right: list[str], left_key: int, right_key: int) -> list[dict]:
    return [
        init("g"),
        init("left", ["g"], key=left_key),
        init("right", ["g"], key=right_key),
        add("l", "left", left),
        add("r", "right", right),
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([init("g")], ("single_tip", "g")),
        (fork(["a"], ["a"], 2, 1), ("same_members", "right")),
        (fork(["a"], ["a"], 1, 1), ("same_members", "left")),
        (fork([], [], 2, 1), ("same_members", "right")),
        (fork(["a", "b"], ["a"], 1, 2), ("subset", "right")),
        (fork([], ["a"], 2, 1), ("subset", "left")),
        (fork(["a", "b"], ["a", "c"], 2, 1), ("overlap", "right")),
        (fork(["a"], ["b"], 2, 1), ("disjoint", "right")),
        (fork(["a"], ["b"], 1, 2), ("disjoint", "left")),
        # Bytes are unsigned, the most significant first.
        (fork(["a"], ["a"], 2**255, 2**255 - 1), ("same_members", "right")),
        (fork(["a"], ["a"], 0x0100, 0x00FF), ("same_members", "right")),
        (fork(["a"], ["a"], 1 << 64, (1 << 64) - 1), ("same_members", "right")),
    ],
)
def test_one_epoch_is_preferred(rows, expected):
    assert preferred(rows) == (expected[0], [expected[1]])
    assert reduced(rows) == oracle(rows)


def test_circles_of_pairwise_choices_end():
    rows = [init("g"), init("L", ["g"], key=1), init("S", ["g"], key=2), init("R", ["g"], key=3)]
    rows += [add("1", "L", ["a", "b", "c"]), add("2", "S", ["a", "d"]), add("3", "R", ["a", "b"])]
    assert preferred(rows) == ("many_tips", ["S"])


def test_the_preferred_epoch_may_come_after_many_beaten_ones(monkeypatch):
    """All tips of the first places include a small set in the last ones."""
    monkeypatch.setattr(preference, "WIDTH", 64)
    rows = [init("g")]
    for number in range(150):
        rows.append(init(f"e{number:03}", ["g"], key=number))
        rows.append(add(f"m{number}", f"e{number:03}", ["few", *[f"f{number}"] * (number < 140)]))
    assert preferred(rows) == ("many_tips", ["e140"])


def test_missing_members_beyond_the_limit_are_only_counted():
    rows = [*chain(5), add("m", "g", ["a", "b", "c", "d", "p"]), exclude("x", "e02", ["p"])]
    epochs, members, _ = reduced(rows, missing=18)
    assert (epochs, members) == oracle(rows)[:2] and len(members) == 23
    epochs, members, _ = reduced(rows, missing=17)
    assert [epochs["g", e]["missing_count"] for e in ("g", "e01", "e02", "e03", "e04")] == [0, 5, 5, 4, 4]
    assert not any(row["are_missing_listed"] for row in epochs.values())
    assert len(members) == 6
    assert [key for key, row in members.items() if row["is_missing"]] == [("g", "e02", "p")]


def returned() -> list[dict]:
    """Build a group in which two people are excluded, return, and are dropped from the next of four epochs."""
    return [*chain(4), exclude("x", "g", ["p", "q"]), add("m", "e01", ["p", "q"]), add("n", "e02", ["r"])]


def is_unknown(found: tuple[dict, dict, dict]) -> bool:
    """Say whether the columns that depend on ancestors are null; all others must be set."""
    epochs, members, dropped = found
    values = {row[name] for row in epochs.values() for name in ("missing_count", "returned_count")}
    values |= {row[name] for row in members.values() for name in ("is_missing", "is_returned")}
    assert (values == {None}) == (None in values) == (not dropped)
    assert all(row["are_missing_listed"] == (None not in values) for row in epochs.values())
    return None in values


@pytest.mark.parametrize(("limit", "value"), [("steps", 7), ("bits", 4 * 3), ("dropped", 2)])
def test_groups_beyond_a_limit_keep_columns_without_ancestors(limit, value):
    """Four epochs, three edges, one word; the widest feed has bits of its own, of an add and of an exclude."""
    expected = oracle(returned())
    assert reduced(returned(), **{limit: value}) == expected
    found = reduced(returned(), **{limit: value - 1})
    assert is_unknown(found)
    unknown = {"missing_count": None, "returned_count": None, "are_missing_listed": False}
    assert found[0] == {key: row | unknown for key, row in expected[0].items()}
    unknown = {"is_missing": None, "is_returned": None}
    named = {key: row | unknown for key, row in expected[1].items() if row["is_added"] or row["is_excluded"]}
    assert found[1] == named and len(named) == 5


def elsewhere(rows: list[dict]) -> list[dict]:
    def renamed(name: str) -> str:
        return "h" if name == "g" else f"h{name}"

    ids = ("group_id", "epoch_id", "message_id")
    return [
        row
        | {name: renamed(row[name]) for name in ids}
        | {"previous_epochs": [renamed(p) for p in row["previous_epochs"] or []]}
        for row in rows
    ]


def test_limits_are_those_of_each_group():
    for limits in ({"steps": 1}, {"dropped": 0}, {"bits": 2}):
        for rows in (elsewhere(chain(2)) + returned(), returned() + elsewhere(chain(2))):
            epochs, _, dropped = reduced(rows, **limits)
            known = {key[0] for key, row in epochs.items() if row["missing_count"] is not None}
            assert known == {"h"} and not dropped
    both = returned() + elsewhere(returned())
    assert reduced(both, dropped=2) == oracle(both)


def test_many_blocks(monkeypatch):
    """Narrow blocks, and feeds that are wider than a block, have the same results."""
    monkeypatch.setattr(members, "WIDTH", 5)
    rows = [*chain(9), add("m", "g", [f"p{number}" for number in range(100)])]
    rows += [
        say(f"{say.__name__}{n}", f"e{n:02}", ["p1", "p2", f"p{n}"]) for n in range(1, 9) for say in (add, exclude)
    ]
    assert reduced(rows) == oracle(rows)


def hostile(shape: str) -> list[dict]:
    """Build a group of thousands of epochs, feeds or excludes."""
    feeds = [f"p{number:05}" for number in range(2000)]
    if shape == "chain":
        rows = [init(f"e{number:05}", [f"e{number - 1:05}"] if number else None, "e00000") for number in range(3000)]
        rows += [
            say(f"{say.__name__}{n}", f"e{n:05}", ["p", "q"], "e00000") for n in range(3000) for say in (add, exclude)
        ]
        return rows
    rows = [init("g"), add("m", "g", feeds), exclude("x", "g", feeds)]
    if shape == "feeds":
        rows += [init("e", ["g"]), add("n", "e", feeds), *(init(f"e{number}", ["e"]) for number in range(50))]
        return rows
    rows += [init(f"e{number:05}", ["g"], key=number) for number in range(4000)]
    return rows + [
        add(f"n{number}", f"e{number:05}", ["p", f"p{number % 70}"][: 4000 - number]) for number in range(4000)
    ]


@pytest.mark.parametrize(
    ("shape", "epochs", "dropped"), [("chain", 3000, 0), ("feeds", 52, 100_000), ("tips", 4001, 0)]
)
def test_hostile_groups_in_time(shape, epochs, dropped):
    begin = time.process_time()
    found = reduced(hostile(shape))
    assert (len(found[0]), len(found[2])) == (epochs, dropped)
    assert time.process_time() - begin < 20
