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
    incomplete = {"started", "huge and fresh", "wide"}
    expected = dict.fromkeys(hostile.bases, "ok") | dict.fromkeys(incomplete, "incomplete")
    expected |= dict.fromkeys(("empty", "nobody"), "empty")
    assert {base_id: row["status"] for base_id, row in hostile.bases.items()} == expected


def test_hostile_names_and_values(hostile):
    for name in NAMES:
        a, b = hostile.views[name]["all"]
        assert (json.loads(a["value"]), b["value"]) == ({name: name}, None)
        assert (a["is_ack"], b["is_ack"]) == (False, True)
    assert [row["value"] for row in hostile.views["values"]["all"]] == list(VALUES.values())


def test_hostile_width(hostile):
    """Bases with many heads, many indexers and confirmed lengths of earlier nodes."""
    order, confirmed = hostile.answer("wide")
    first, *others = [f"{key}:1" for key in WIDE[:500]]
    assert order == [f"{A}:1", first, *others, f"{C}:1"]
    row = hostile.bases["wide"]
    assert (confirmed, row["node_count"], row["head_count"]) == (1, 502, 2)
    c = hostile.nodes["wide"][f"{C}:1"]
    assert (c["depth"], c["is_head"], len(c["clock"])) == (1, True, 501)
    row = hostile.bases["wide indexers"]
    assert (row["indexer_count"], row["majority"]) == (10_001, 5_001)
    assert hostile.answer("wide indexers") == ([f"{A}:1"], 0)
