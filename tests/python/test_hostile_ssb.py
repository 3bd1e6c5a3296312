"""Hostile SSB logs: the build succeeds, each line ends in a message or a reject, and the content is never executed."""

import json
import re
from collections import Counter
from urllib.parse import unquote

import pytest

from hostile_lines import HOSTILE
from ssb_stories import COLON_NAMES, COLON_ROOTS, HUGE, signed_log, unsigned_log

pytestmark = pytest.mark.both

#: All tables but those of other logs.
SELECTED = ("--exclude", "stg_pzp__lines+", "stg_autobase__lines+")


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Write a log for a build that verifies signatures."""
    return signed_log(tmp_path_factory.mktemp("signed logs"))


@pytest.fixture(scope="module")
def verified(signed, project):
    """Build with verification on."""
    return project("bad_input_verified", ssb_log=signed.write()).run(*SELECTED)


def test_verified_lines(signed, verified):
    signed.check(verified)


def test_verified_names(verified):
    tangles = {
        (row["tangle_name"], row["member_count"], len(row["tips"]))
        for row in verified.rows("tangles")
        if row["root_status"] == "present"
    }
    assert {(name, 2, 1) for name in HOSTILE} <= tangles
    assert {(f"t{i}", 1, 1) for i in range(80)} <= tangles
    assert [row for row in tangles if row[0] == "ssb:legacy_thread"] == [("ssb:legacy_thread", 2, 1)]
    own = ("legacy_thread", "feed", "ssb:ssb:legacy_thread", "ssb:ssb:feed", "ssb")
    assert sorted(row for row in tangles if row[0] in own) == sorted((name, 2, 1) for name in own)
    assert [row for row in tangles if "\ufffd" in row[0]] == [("\ufffd", 1, 1)]


def test_verified_contents(verified):
    contents = [json.loads(row["content"]) for row in verified.rows("ssb_messages", ["content"]) if row["content"]]
    texts = Counter(content.get("text") for content in contents if isinstance(content, dict) and "text" in content)
    assert all(texts[name] >= 2 for name in HOSTILE if name)
    assert texts["\ud800"] == 1


def test_envelope_keys_are_reported(verified):
    keys = {row["message_id"]: row["is_key_consistent"] for row in verified.rows("ssb_messages") if row["is_usable"]}
    assert Counter(keys.values())[False] == 1


@pytest.fixture(scope="module", params=[1_000, pytest.param(10_000, marks=pytest.mark.long)])
def crowd(request) -> int:
    """Return the number of tangles of one message, and of previous."""
    return request.param


@pytest.fixture(scope="module")
def unsigned(crowd, tmp_path_factory):
    """Write a log for a build that trusts claimed ids."""
    return unsigned_log(tmp_path_factory.mktemp("unsigned logs"), crowd)


@pytest.fixture(scope="module")
def trusted(unsigned, crowd, project):
    """Build with verification off. Some events name the timelines of tangles."""
    timelines = (f"{name}:{root}" for name in COLON_NAMES for root in COLON_ROOTS)
    events = [{"timeline": timeline, "event": "e", "after": [], "arrival": 1} for timeline in timelines]
    made = project(f"bad_input_{crowd}", ssb_log=unsigned.write() + "/*", verify_signatures=False)
    return made.given(event_log=[json.dumps(event).encode() for event in events]).run(*SELECTED)


def test_trusted_lines(unsigned, trusted):
    unsigned.check(trusted)


def test_trusted_names(trusted, crowd):
    tangles = {(row["tangle_name"], row["root_id"]): row for row in trusted.rows("tangles")}
    for text in HOSTILE:
        row = tangles[text, f"%{text}"]
        assert (row["member_count"], row["tips"], row["edge_count"]) == (2, [f"%{text}/child"], 1)
        assert tangles["ssb:legacy_thread", f"%{text}"]["member_count"] == 2
    assert tangles["surrogate \ufffd", "%\ufffd"]["tips"] == ["%\ufffd/child"]
    assert tangles["long id", HUGE]["tips"] == ["%after a long id"]
    assert tangles[HUGE, "%long name"]["tips"] == ["%after a long name"]
    assert sum(name.startswith("one of many ") for name, _ in tangles) == crowd


def test_trusted_timelines(trusted):
    """Each tangle has a timeline of its own. Its name is the tangle's; colons and percent signs of keys are escaped."""

    def tangle_of(timeline: str) -> tuple[str, str]:
        own = timeline.startswith("ssb:")  # of the older fields
        name, _, root = timeline.removeprefix("ssb:").partition(":")
        return f"ssb:{name}" if own else re.sub("%3A|%25", lambda code: unquote(code[0]), name), root

    arrivals = trusted.rows("int_timeline_arrivals", ["timeline_id", "event_id", "line"])
    arrivals = [row for row in arrivals if row["timeline_id"] != "ssb:log"]
    members = [(*tangle_of(row["timeline_id"]), row["event_id"]) for row in arrivals if row["line"] is None]
    rows = [row for row in trusted.rows("tangle_messages") if row["is_member"]]
    assert sorted(members) == sorted((row["tangle_name"], row["root_id"], row["message_id"]) for row in rows)
    timelines = {row["timeline_id"] for row in arrivals if row["line"] is None}
    assert {f"{name}:{root}" for name, root, _ in members if not re.search(":|%25|%3A", name)} <= timelines

    # Other events cannot enter the timeline of a tangle; names that only look similar are free.
    rejects = trusted.rows("timeline_rejects", ["timeline_id", "reason"])
    taken = {row["timeline_id"] for row in rejects if row["reason"] == "timeline_taken"}
    free = {row["timeline_id"] for row in arrivals if row["line"] is not None}
    assert taken and free and taken <= timelines and not free & timelines
    assert taken | free == {f"{name}:{root}" for name in COLON_NAMES for root in COLON_ROOTS}


def test_empty_log(empty):
    folders = (empty.warehouse / "empty.db").iterdir()
    tables = [path.name for path in folders if not path.name.startswith(".")]
    assert {"ssb_messages", "sets", "group_epochs", "autobase_views", "timeline_edits", "int_tangle_depths"} <= {
        *tables
    }
    filled = {name for name in tables if empty.table(name).num_rows}
    assert filled == {"runs", "run_changes", "int_reasons", "tangle_types"}
    assert {row["table_name"] for row in empty.rows("run_changes")} == {f"{empty.schema}.tangle_types"}


@pytest.mark.long
def test_data_tests_hold(verified, trusted):
    for built in (verified, trusted):
        built.build(*SELECTED, "--exclude-resource-type", "seed")
