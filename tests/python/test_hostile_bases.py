"""Hostile Autobase logs through dbt; `base_stories` states the expected result of each line."""

import json

import pytest

from base_builds import ONLY, Built
from base_stories import NAMES, VALUES, WIDE, A, C, hostile_log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Write all of `base_stories` in mixed order, with some files twice."""
    return hostile_log(tmp_path_factory.mktemp("hostile_bases"))


@pytest.fixture(scope="module")
def hostile(log, project):
    """Build the log in one partition."""
    made = project("hostile_bases", partitions=1, autobase_log=log.write())
    return Built(made.build(*ONLY))


def test_hostile_lines(log, hostile):
    """Every rejected line is expected, by file and line number."""
    log.check(hostile)


def test_hostile_bases(log, hostile):
    """The tables of each base equal the oracle's result for its usable nodes."""
    for base_id in log.known.keys() - {"wide"}:
        hostile.check(base_id, log.known[base_id])
    assert hostile.bases.keys() == log.known.keys() | {"wide indexers"}


def test_hostile_bases_have_their_status(hostile):
    """Some bases by name: counts of nodes and heads, confirmed length and status."""
    names = ("node_count", "confirmed_length", "head_count", "status")
    found = {base_id: tuple(row[name] for name in names) for base_id, row in hostile.bases.items()}
    assert found == {
        **dict.fromkeys(NAMES, (2, 1, 1, "ok")),
        "holes": (2, 0, 1, "incomplete"),
        "missing": (1, 0, 1, "incomplete"),
        "cycles": (2, 0, 1, "incomplete"),
        "two things": (1, 0, 1, "incomplete"),
        "one thing": (4, 1, 1, "ok"),
        "batches": (6, 0, 4, "incomplete"),
        "started": (5, 0, 2, "incomplete"),
        "huge": (3, 0, 1, "ok"),
        "huge and fresh": (0, 0, 0, "incomplete"),
        "conflict": (2, 1, 1, "ok"),
        "values": (len(VALUES), len(VALUES), 1, "ok"),
        "wide": (502, 1, 2, "incomplete"),
        "wide start": (1, 1, 1, "ok"),
        "wide indexers": (1, 0, 1, "ok"),
        "empty": (0, 0, 0, "empty"),
        "nobody": (0, 0, 0, "empty"),
        "no indexers": (3, 0, 1, "ok"),
        "one indexer": (5, 3, 1, "ok"),
        "only relayed": (2, 0, 0, "ok"),
        "capitals": (3, 2, 1, "ok"),
        "lines": (1, 1, 1, "ok"),
    }


def test_hostile_names_and_values(hostile):
    for name in NAMES:
        a, b = hostile.views[name]["all"]
        assert (json.loads(a["value"]), b["value"]) == ({name: name}, None)
        assert (a["is_ack"], b["is_ack"]) == (False, True)
    assert [row["value"] for row in hostile.views["values"]["all"]] == list(VALUES.values())
    assert {row["value"] for row in hostile.views["one thing"]["all"]} == {'{"x":[1],"y":"é"}', None, '"c1"', '"c2"'}


def test_hostile_width(hostile):
    """Bases with many heads, many indexers and confirmed lengths of earlier nodes."""
    order, confirmed = hostile.answer("wide")
    first, *others = [f"{key}:1" for key in WIDE[:500]]
    assert order == [f"{A}:1", first, *others, f"{C}:1"]
    assert confirmed == 1
    c = hostile.nodes["wide"][f"{C}:1"]
    assert (c["depth"], c["is_head"], len(c["clock"])) == (1, True, 501)
    row = hostile.bases["wide indexers"]
    assert (row["indexer_count"], row["majority"]) == (10_001, 5_001)
    assert hostile.answer("wide indexers") == ([f"{A}:1"], 0)
