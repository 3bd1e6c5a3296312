"""Recorded answers of ssb-tribes2."""

from collections import Counter

import pytest

from dbt_tangles.formats.ssb.ids import normalise
from group_cases import cases, rows_of
from group_oracle import oracle
from group_tables import reduced

CASES = {name: cases(name) for name in ("epochs", "fullstack")}
COUNTS = {
    "epochs": (
        {"groups": 100, "epochs": 384, "members": 384, "missing": 248},
        {"single_tip": 37, "same_members": 5, "subset": 12, "overlap": 8, "disjoint": 4, "many_tips": 34},
    ),
    "fullstack": (
        {"groups": 11, "epochs": 24, "members": 24, "missing": 0},
        {"single_tip": 7, "same_members": 1, "subset": 2, "overlap": 1},
    ),
}


def answers_of(name: str) -> list[tuple[dict, list[dict], list[dict]]]:
    """Return each case, and the rows of its epochs and members."""
    # The views of several peers of one group cannot share a table.
    runs = [CASES[name]] if name == "epochs" else [[case] for case in CASES[name]]
    found = []
    for run in runs:
        epochs, members, _ = reduced([row for case in run for row in rows_of(case)], 1000)
        for case in run:
            root = normalise(case["root"])
            found.append(
                (
                    case,
                    [row for row in epochs.values() if row["group_id"] == root],
                    [row for row in members.values() if row["group_id"] == root],
                )
            )
    return found


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_peers(name):
    agreed, preferences = Counter(), Counter()
    for case, epochs, members in answers_of(name):
        theirs = case["expected"]["head"]
        feeds = {row["epoch_id"]: [m for m in members if m["epoch_id"] == row["epoch_id"]] for row in epochs}

        def those(epoch, flag, feeds=feeds):
            return {row["feed_id"] for row in feeds[epoch] if row[flag]}

        assert set(feeds) == {normalise(epoch["id"]) for epoch in theirs["epochs"]}
        agreed["groups"] += 1
        agreed["epochs"] += len(feeds)
        assert {row["epoch_id"] for row in epochs if row["is_tip"]} == set(map(normalise, theirs["tips"]))
        for epoch, said in theirs["members"].items():
            assert those(normalise(epoch), "is_added") == set(said["added"])
            assert those(normalise(epoch), "is_excluded") == set(said["toExclude"])
            agreed["members"] += 1

        reported = {normalise(said["epoch"]): set(said["missing"]) for said in theirs["missing"]}
        for row in epochs:
            missing = those(row["epoch_id"], "is_missing")
            assert missing == reported.get(row["epoch_id"], set())
            assert row["missing_count"] == len(missing) and row["are_missing_listed"]
            assert row["returned_count"] == len(those(row["epoch_id"], "is_returned"))
            assert (row["missing_count"] + row["returned_count"] > 0) == (row["epoch_id"] in reported)
            agreed["missing"] += len(missing)

        (preferred,) = [row["epoch_id"] for row in epochs if row["is_preferred"]]
        ((preference, tip_count),) = {(row["preference"], row["tip_count"]) for row in epochs}
        preferences[preference] += 1
        if preference == "disjoint":
            assert theirs["preferred"] == {"error": "unknown membership case!"}
        elif preference == "many_tips":
            assert theirs["preferred"] == {"error": f"case of {tip_count} tips not handled yet"}
        else:
            assert preferred == normalise(theirs["preferred"])
    assert agreed == COUNTS[name][0] and preferences == COUNTS[name][1]


def test_the_person_who_was_added_again_is_dropped():
    """Oscar is excluded, added again to the next epoch, and silently left out of the following one."""
    (case,) = [c for c in CASES["fullstack"] if c["case"] == "group_fullstack_linear_readd_exclude_alice"]
    rows = rows_of(case)
    epochs, members, dropped = reduced(rows)
    first, second, third = sorted(epochs, key=lambda key: epochs[key]["depth"])
    ((key, row),) = dropped.items()
    assert key[:2] == third
    oscar = key[2]
    assert members[(*first, oscar)]["is_excluded"] and members[(*first, oscar)]["excluded_by"] == row["excluded_by"]
    assert members[(*second, oscar)]["is_returned"] and members[(*second, oscar)]["added_by"] == row["added_by"]
    assert (*third, oscar) not in members
    assert [epochs[e]["returned_count"] for e in (first, second, third)] == [0, 1, 0]
    assert {row["preference"] for row in epochs.values()} == {"single_tip"}


@pytest.mark.parametrize("name", CASES)
def test_the_oracle_agrees(name):
    for case in CASES[name]:
        rows = rows_of(case)
        assert reduced(rows) == oracle(rows)
