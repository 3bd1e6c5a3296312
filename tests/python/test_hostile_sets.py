"""Hostile logs of sets through dbt; `set_stories` states the expected result of each line."""

from collections import Counter

import pytest

from fixtures.pzp.author import Device
from hostile_lines import ODD
from set_builds import MAX, SELECTED, Built
from set_stories import LEGAL, hostile_log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Write all lines of `set_stories`, some of them twice."""
    return hostile_log(tmp_path_factory.mktemp("hostile_sets"))


@pytest.fixture(scope="module")
def hostile(log, project):
    """Build the log in one partition."""
    made = project("hostile_sets", partitions=1, pzp_log=log.write())
    return Built(made.build(*SELECTED))


def test_hostile_lines(log, hostile):
    """Every line of every file has its expected result, and so has every message of every set."""
    log.check(hostile)
    lines = sum(map(len, log.files.values()))
    assert lines == sum(log.lines.values()) + len(log.rejects)


def answers(built, feed, *names):
    """Return columns of a set, with ids replaced by their short names."""
    name_of = {one: name for name, one in feed.ids.items()}
    row = built.sets[feed.root]
    return [[name_of.get(one, one) for one in row[name]] if type(row[name]) is list else row[name] for name in names]


def test_hostile_items(log, hostile):
    """Items that JavaScript takes for equal are equal. Strings are shown as they are, other items as JSON."""
    feeds = log.feeds
    added = {}
    for row in hostile.items[feeds["items"].root]:
        added.setdefault(row["added_by"], []).append(row["item"])
    a, c, e = feeds["items"].named("A", "C", "E")
    assert added == {
        # The number 1, null and the string "true" were deleted; "1" and "null" in quotes and all objects stay.
        a: [
            *("1", "null", "true", "{}", "{}", "[]", "[[]]", "[1]", "", "\x001", "9007199254740992"),
            *("1.1805916207174113e+21", "0", "é", "e\u0301", '{"b":1,"a":[null]}'),
        ],
        c: [text for text in ODD[2:] if text not in ("1", "null", "", "é", "e\u0301")],
        e: ["1", "null"],
    }
    # The root of a feed of another kind is no set, whichever message names it.
    assert [name for name, feed in feeds.items() if feed.root not in hostile.sets] == ["dict"]
    items = {name: hostile.sets[feed.root]["items"] for name, feed in feeds.items() if name != "dict"}
    assert items["many"] == ["00000"]
    assert items["deep"] == ["[" * 5000 + "1" + "]" * 5000]
    assert items["unprintable"] == []
    assert items["copies"] and set(items["copies"]) == {"full", "signed by a stranger", "damaged"}
    for text in ODD:
        assert items[f"account {text}"] == [text]
        assert items[f"domain {text}"] == (["A"] if text in LEGAL else [])


def test_hostile_sets(log, hostile):
    """Depths, order and tips of a set with false depths, and roots that are none."""
    feeds = log.feeds
    depths = feeds["depths"]
    found = answers(hostile, depths, "root_status", "max_depth", "min_required_depth", "squeeze_potential")
    assert found == ["present", MAX, 1, MAX - 1]
    order = list(map({one: name for name, one in depths.ids.items()}.get, hostile.order(depths.root)))
    assert (order[:2], set(order[2:4]), order[4:]) == (
        ["R", "A"],
        {"float", "beside a refused one"},
        ["held", "after a held one", "far", "last"],
    )
    assert set(answers(hostile, depths, "tips")[0]) == {"float", "beside a refused one", "after a held one", "last"}
    assert Counter(hostile.sets[set_id]["root_status"] for set_id in log.astray) == {
        "missing": len(ODD),
        "unusable": 1,
    }
    assert all(row["are_writers_checked"] for row in hostile.sets.values())


def test_hostile_copies(log, hostile):
    """The choice among several copies of a message."""
    copies = log.feeds["copies"]
    laptop, stranger = Device.from_name("laptop").key, Device.from_name("stranger").key
    assert {
        name: (row["has_data"], row["sigkey"] == laptop)
        for name, one in copies.ids.items()
        if (row := hostile.messages[one])["is_usable"] and name != "R"
    } == {
        "full": (True, True),
        "erased": (False, True),
        "signed by a stranger": (True, True),
        "stranger has the data": (False, True),
        "strangers only": (True, False),
        "damaged": (True, True),
        "erased and changed": (False, True),
    }
    assert hostile.messages[copies.ids["strangers only"]]["sigkey"] == stranger


def test_claimed_ids_are_reported(log, hostile):
    """A wrong id in the envelope makes a message inconsistent but still usable."""
    feeds = log.feeds
    wrong = {feeds[f"account {text}"].ids[name] for text in ODD for name in "RA"} | {feeds["lines"].ids["A"]}
    assert {name for name, row in hostile.messages.items() if row["is_usable"] and not row["is_id_consistent"]} == wrong
