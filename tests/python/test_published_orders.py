"""Runs that build on the output of earlier runs: updates lead from each published order to the next."""

import json
from collections import defaultdict

import pytest

from conftest import DATA
from dbt_tangles.algorithms.timeline.verify_edits import replay
from log_files import read_cases

pytestmark = pytest.mark.long  # test_nightly_runs.py has quick nights

TABLES = ("timeline_events", "timeline_links", "timeline_edits", "timeline_rejects", "timeline_stats")
MODELS = ("--select", "+int_timeline_order", *TABLES, "timeline_updates")


def event_lines() -> list[str]:
    """The peer's cases, and refused lines: a repeated event, a cycle and malformed lines."""
    lines = [
        json.dumps({"timeline": case["id"], "event": name, "after": causes, "arrival": place, "author": name[:1]})
        for case in read_cases("timelines/small.jsonl.gz")
        for place, (name, causes) in enumerate(case["arrivals"])
    ]
    for arrival, name, causes in [(0, "a", []), (1, "b", ["c"]), (2, "c", ["b"]), (3, "a", ["b"]), (9, "c", ["a"])]:
        lines.append(json.dumps({"timeline": "odd", "event": name, "after": causes, "arrival": arrival}))
    return [*lines, "", '{"timeline": "odd"}', "no JSON"]


def orders(built) -> dict[str, list[str]]:
    found = defaultdict(list)
    for row in sorted(built.rows("timeline_events"), key=lambda row: row["position"]):
        found[row["timeline_id"]].append(row["event_id"])
    return found


def publications(built) -> dict[str, tuple]:
    """Read the current and the previous published order of each timeline."""
    rows = built.rows("int_timeline_order", ["timeline_id", "previous_publication", "publication"])
    return {row["timeline_id"]: (row["previous_publication"], row["publication"]) for row in rows}


def write(folder, ssb: list[str], events: list[list[str]]) -> None:
    """Write the logs of a run; files keep their names, and lines keep their places."""
    for number, lines in enumerate(events):
        (folder / f"events{number}.jsonl").write_text("\n".join(lines) + "\n" if lines else "")
    (folder / "ssb.json").write_text("\n".join(ssb))


@pytest.fixture(scope="module")
def runs(project, tmp_path_factory):
    """Build in four runs: a part, more in the middle and at the end, the same lines, the rest."""
    folder = tmp_path_factory.mktemp("runs")
    ssb = (DATA / "ssb" / "small.jsonl").read_text().splitlines()
    lines = event_lines()
    files: list[list[str]] = [lines[0::3], lines[1::3], lines[2::3]]
    variables = {
        "ssb_log": str(folder / "ssb.json"),
        "event_log": str(folder / "events*.jsonl"),
        "edit_batch_size": 3,
        "log_timeline": "full",
    }
    split = project("split", **variables)
    states = []
    for ssb_part, parts in (
        (ssb[:150], [files[0][:200], files[1][:100], []]),
        (ssb[:220], [files[0][:250], files[1][:100], files[2]]),
        (ssb[:220], [files[0][:250], files[1][:100], files[2]]),
        (ssb, files),
    ):
        write(folder, ssb_part, parts)
        split.run(*MODELS)
        updates = sorted(split.rows("timeline_updates"), key=lambda row: (row["timeline_id"], row["step"]))
        states.append((orders(split), publications(split), updates))
    return split, states


def test_edits_replay(runs):
    split, _ = runs
    assert replay(str(split.warehouse / f"{split.schema}.db")).differ == {}


def test_updates_lead_from_run_to_run(runs):
    """A replica that follows every run has each published order, by the rule of decision 004."""
    _, states = runs
    replicas: dict[str, list[str]] = {}
    held: dict[str, str] = {}
    followed = 0
    for after, published, updates in states:
        scripts = defaultdict(list)
        for row in updates:
            scripts[row["timeline_id"]].append(row)
            assert (row["previous_publication"], row["publication"]) == published[row["timeline_id"]]
        for timeline, order in after.items():
            previous, publication = published[timeline]
            if held.get(timeline) != publication:
                # A late arrival changes the cycles of some timelines: events leave, and the script restarts.
                assert previous in (None, held.get(timeline))
                followed += previous is not None
                replica = replicas[timeline] if previous else []
                for row in scripts[timeline]:
                    if row["op"] == "mov":
                        assert replica.pop(row["from_position"]) == row["event_id"]
                    replica.insert(row["to_position"], row["event_id"])
                replicas[timeline], held[timeline] = replica, publication
            assert replicas[timeline] == order
    assert followed > 20


def test_a_run_without_news_keeps_every_script(runs):
    _, states = runs
    assert states[1] == states[2]


def test_timelines_without_news_are_left_alone(runs):
    """Timelines without new arrivals in the last run keep an earlier script; the others have a new script."""
    _, states = runs
    before, after = states[-2][1], states[-1][1]
    same = [timeline for timeline in before if after[timeline] == before[timeline]]
    assert 10 < len(same) < len(before)
    led_on = [timeline for timeline in before if after[timeline][0] == before[timeline][1]]
    assert len(led_on) > 10
    assert not set(led_on) & set(same)
