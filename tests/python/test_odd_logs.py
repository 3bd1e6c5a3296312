"""The small logs of `tests/data/odd_logs`, with their right answers; one build for all kinds of logs."""

import json
from collections import Counter

import pytest

from conftest import DATA

FOLDER = DATA / "odd_logs"
TABLES = ("timeline_events", "timeline_links", "timeline_rejects", "set_messages", "set_items", "autobase_rejects")
SELECTED = ("--select", *(f"+{table}" for table in (*TABLES, "int_autobase_nodes", "pzp_messages")))

LOGS = {"event": "events", "autobase": "autobase", "ssb": "ssb", "pzp": "pzp"}

pytestmark = pytest.mark.both


@pytest.fixture(scope="module")
def built(project):
    """Build the logs with at most two causes an event, and with all links of the log's timeline."""
    logs = {f"{kind}_log": str(FOLDER / f"{name}.jsonl") for kind, name in LOGS.items()}
    return project("odd_logs", **logs, max_previous=2, log_timeline="full").run(*SELECTED)


def order_of(built, timeline: str) -> list[str]:
    """Return the events of a timeline by position."""
    rows = [row for row in built.rows("timeline_events") if row["timeline_id"] == timeline]
    return [row["event_id"] for row in sorted(rows, key=lambda row: row["position"])]


@pytest.mark.parametrize(
    ("timeline", "order"),
    [
        ("kahn", "A B D C"),
        ("late", "A X B Y C"),
        ("reuse", "a:1 b:1"),
        ("nostr", "r u s t v"),
        ("arrivals", "exp max neg one p53 p53m zero"),
        ("case", "Msg msg MSG"),
    ],
)
def test_orders_of_events(timeline, order, built):
    assert " ".join(order_of(built, timeline)) == order


def test_lines_that_contradict_each_other_are_refused(built):
    """All three lines of the event, also the two that agree; its follower is in the timeline, and lacks a cause."""
    rejects = [row for row in built.rows("timeline_rejects") if row["timeline_id"] == "reuse"]
    assert [(row["event_id"], row["reason"]) for row in rejects] == [("a:2", "conflict")] * 3
    missing = {row["event_id"]: row["missing_causes"] for row in built.rows("timeline_events")}
    assert missing["b:1"] == ["a:2"]
    assert "conflict. Another line gives the event other causes" in built.ask("why", "a:2", "--in", "reuse").stdout


def test_an_event_that_lists_itself_tells_so(built):
    cyclic = {row["event_id"]: row["cyclic_causes"] for row in built.rows("timeline_events") if row["cyclic_causes"]}
    assert cyclic == {"u": ["u"]}
    assert ("u", "u") not in {(row["event_id"], row["cause_id"]) for row in built.rows("timeline_links")}
    assert "a cycle (ignored): u" in built.ask("why", "u", "--in", "nostr").stdout


def test_arrivals_that_are_no_whole_numbers(built):
    reasons = Counter(row["reason"] for row in built.rows("timeline_rejects") if row["timeline_id"] == "arrivals_bad")
    assert reasons.keys() == {"malformed"} and reasons["malformed"] >= 6


def test_spellings_of_one_value_are_no_equivocation(built):
    assert not [row for row in built.rows("autobase_rejects") if row["reason"] == "equivocation"]
    values = {
        row["base_id"]: row["value"] for row in built.rows("int_autobase_nodes") if row["base_id"] in ("num", "keys")
    }
    assert values == {"num": '{"x":1}', "keys": '{"x":1,"y":2}'}


def test_a_root_that_previous_imply_is_no_cause_of_its_own(built):
    messages = [json.loads(line) for line in (FOLDER / "ssb.jsonl").read_text().splitlines()]
    texts = {message["key"]: message["value"]["content"]["text"] for message in messages}
    assert [texts[id_] for id_ in order_of(built, "ssb:log")] == ["T", "c0", "b0", "b1", "b2", "b3", "t1", "t2"]
    assert not any(row["left_out_causes"] for row in built.rows("timeline_events"))
    links = [row for row in built.rows("timeline_links") if row["timeline_id"] == "ssb:log"]
    causes = {
        name: {texts[row["cause_id"]] for row in links if texts[row["event_id"]] == name} for name in ("t1", "t2")
    }
    assert causes == {"t1": {"b3", "T"}, "t2": {"c0", "t1"}}


def test_data_of_another_shape_has_a_reason(built):
    """The message stays in the tangle of its set, and the reason why its item is absent is told."""
    lines = [json.loads(line) for line in (FOLDER / "pzp.jsonl").read_text().splitlines()]
    ids = {entry["id"] for entry in lines if (entry["msg"]["data"] or {}).get("add") in ("str", ["h"])}
    assert len(ids) == 2
    rows = built.rows("set_messages")
    assert {row["message_id"] for row in rows if row["reject_reason"]} == ids
    for row in rows:
        is_unread = row["message_id"] in ids
        assert (row["is_valid"], row["is_held"]) == (not is_unread, is_unread) and row["position"] is not None
        assert row["reject_reason"] == ("bad_set_data" if is_unread else None)
    assert [row["item"] for row in built.rows("set_items")] == ["m"]
    for id_ in ids:
        assert "bad_set_data. Peers accept the message, but its data" in built.ask("why", id_).stdout
