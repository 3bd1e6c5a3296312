"""The hand-written tables of the committed fixtures are free of slips."""

import json
from functools import partial

import fixture_seeds

expected = partial(fixture_seeds.expected, "events")
lines = partial(fixture_seeds.lines, "events")

LINES = [json.loads(line) for line in lines("timelines.jsonl")]
NAMES = [row["example"] for row in expected("timeline_counts")]


def arrivals_of(timeline):
    """Return the line number and document of each arrival, in order of arrival."""
    numbered = [(n, line) for n, line in enumerate(LINES, start=1) if line["timeline"] == timeline]
    return sorted(numbered, key=lambda arrival: arrival[1]["arrival"])


def test_lines_are_not_in_order_of_arrival():
    assert {line["timeline"] for line in LINES} == set(NAMES)
    for name in NAMES:
        arrivals = arrivals_of(name)
        assert [line["arrival"] for _, line in arrivals] == list(range(1, len(arrivals) + 1))
        assert [number for number, _ in arrivals] != sorted(number for number, _ in arrivals)


def test_figure_2_is_inserted_where_the_document_says():
    """The last arrival, c_046, comes between a_049, which has its rank, and a_050."""
    rows = {row["event_id"]: row for row in expected("timeline_events", example="figure_2")}
    assert arrivals_of("figure_2")[-1][1]["event"] == "c_046"
    assert rows["a_049"]["rank"] == rows["c_046"]["rank"]
    places = [int(rows[event]["position"]) for event in ("a_049", "c_046", "a_050")]
    assert places == list(range(places[0], places[0] + 3))
    assert int(rows["d_046"]["position"]) < int(rows["c_045"]["position"])


def test_figure_3_comes_in_the_sets_of_the_document():
    rows = expected("timeline_events", example="figure_3")
    assert [{row["event_id"] for row in rows if row["rank"] == rank} for rank in "0123"] == [
        {"D", "E"},
        {"B", "C"},
        {"A"},
        {"F"},
    ]
