"""Hostile event logs through dbt; `event_stories` states the expected result of each line."""

from collections import Counter
from urllib.parse import unquote

import pytest

from event_builds import CAUTIOUS, SELECTED, Built
from event_stories import CHAIN, DENSE, hostile_log
from hostile_lines import MAX_LINE_BYTES


@pytest.fixture(scope="module")
def hostile(project, tmp_path_factory):
    """Build all lines of `event_stories`."""
    log, reasons = hostile_log(tmp_path_factory.mktemp("hostile_events"))
    built = project("event_hostile", event_log=log.write()).build(*SELECTED, *CAUTIOUS)
    return log, reasons, Built(built)


def test_every_hostile_line_has_its_reason(hostile):
    """The tables have all lines but the rejects; each reject has its reason, file and line."""
    log, reasons, built = hostile
    found = {}
    for row in built.project.rows("timeline_rejects"):
        at = unquote(row["source_file"]).partition(f"{log.folder}/")[2], row["line"]
        assert at not in found
        assert row["detail"]
        found[at] = row["reason"]
    assert found == reasons
    assert set(reasons.values()) == {"malformed", "duplicate", "cycle", "conflict"}
    lines = sum(map(len, log.files.values()))
    assert sum(map(len, built.events.values())) == lines - len(reasons)


def test_details_of_malformed_lines(hostile):
    """The ids are filled as far as they are readable."""
    _, _, built = hostile
    malformed = [r for rows in built.rejects.values() for r in rows if r["reason"] == "malformed"]
    details = Counter(row["detail"] for row in malformed)
    assert details[f"line longer than {MAX_LINE_BYTES} bytes"] == 2
    for name in ("timeline", "event", "after", "arrival"):
        assert details[f"no {name}"]
    assert all(r["timeline_id"] is r["event_id"] is None for r in malformed if r["detail"].startswith("not JSON"))
    assert all((r["timeline_id"], r["event_id"]) == ("victim", "e") for r in malformed if r["detail"] == "no arrival")
    assert "victim" not in built.events


def test_hostile_timelines(hostile):
    """After every arrival, each timeline is the result of its valid lines."""
    log, _, built = hostile
    assert built.events.keys() == log.arrivals.keys()
    for name, arrivals in log.arrivals.items():
        if name not in ("newest first", "dense"):
            built.check_timeline(name, [arrival for arrival, _ in arrivals], 1)


def test_names_sort_by_code_point(hostile):
    """Names sort by code point, not by UTF-16 units or a locale."""
    order = hostile[2].order("roots")
    assert order == sorted(order, key=lambda name: [ord(character) for character in name])
    assert order.index("\uffff") < order.index("\U00010000") < order.index("😀") < order.index("\U0010ffff")


def test_wide_line(hostile):
    """100,000 causes that never arrive are listed in order."""
    [root, same] = hostile[2].rows("wide")
    assert root["missing_causes"] == [f"c{number:06}" for number in range(100_000)]
    assert (root["rank"], same["rank"], same["missing_causes"]) == (0, 1, [])


@pytest.mark.parametrize(("name", "events"), [("newest first", CHAIN), ("dense", DENSE)])
def test_large_timelines(name, events, hostile):
    """Every arrival sorts before all earlier events and raises their ranks by one: one `ins` command each."""
    built = hostile[2]
    assert built.order(name) == events
    assert [row["rank"] for row in built.rows(name)] == list(range(len(events)))
    scripts = built.scripts(name)
    assert list(scripts.values()) == [[("ins", event, None, 0)] for event in reversed(events)]
