"""The list "to look at" of `tangles status`: each kind of problem, and the number of problems that are not listed."""

import pytest

import cli_story as story
from cli_kit import Warehouse
from dbt_tangles.cli.messages import FILES
from dbt_tangles.reasons import meanings


@pytest.fixture
def warehouse(tmp_path, monkeypatch) -> Warehouse:
    monkeypatch.chdir(tmp_path)
    return story.write(tmp_path / "wh")


def words(warehouse: Warehouse) -> list[str]:
    return [item["words"] for item in warehouse.json("status")["look_at"]]


@pytest.mark.parametrize(
    ("table", "log"),
    [("ssb_rejects", "SSB"), ("pzp_rejects", "pzp"), ("autobase_rejects", "autobase"), ("timeline_rejects", "event")],
)
def test_every_reason_of_rejected_lines_is_named(warehouse, table, log):
    """Three reasons of a log have a command each, the others share one; all lines are counted, equal ones too."""
    reasons = [reason for reason in meanings(f"{table}.reason") if reason not in FILES][:5]
    rows = [(n, reason, 5 - n) for n, reason in enumerate(reasons)]
    warehouse.fill(table, "line reason line_count", *rows, source_file="/log")
    found = [each for each in words(warehouse) if f"of the {log} log" in each]
    assert all(any(reason in each for each in found) for reason in reasons)
    assert found[0].startswith(f"5 rejected lines of the {log} log, {reasons[0]}: ")
    assert found[3].startswith(f"3 more rejected lines of the {log} log: {reasons[3]} 2, ")
    counted = {row["table"]: row["total"] for row in warehouse.json("status")["counts"]}
    assert counted[table] == 15


def test_a_timeline_that_is_too_large_has_no_line(warehouse):
    warehouse.write("timeline_rejects", {"reason": "timeline_too_large", "line_count": 0, "timeline_id": "ssb:log"})
    (item, *_) = warehouse.json("status")["look_at"]
    assert item["words"].startswith("1 rejected line of the event log, timeline_too_large: ") and item["ask"] is None


def test_feeds_with_gaps_and_forks(warehouse):
    """Each fork counts once, although a fork has several messages; further feeds are counted, and a query lists all."""
    broken = [{**story.feed(f"@{n}", 3, story.A2), "status": "gap", "gap_sequence": 2 + n} for n in range(5)]
    warehouse.write("feeds", *broken)
    outside = [(f"@{n}", f"%{n}{side}") for n in range(4) for side in "ab"]
    warehouse.fill("feed_messages", "author message_id", *outside, in_chain=False, reason="forked", sequence=2)
    found = words(warehouse)
    assert [each for each in found if "fork" in each] == [
        *(f"feed @{n} is forked at sequence 2" for n in range(3)),
        "1 more feed is forked",
    ]
    assert [each for each in found if "lacks" in each or "gaps" in each] == [
        *(f"feed @{n} lacks the message at sequence {2 + n}" for n in range(3)),
        "2 more feeds have gaps",
    ]
    (item,) = [item for item in warehouse.json("status")["look_at"] if "have gaps" in item["words"]]
    query = item["ask"].partition("sql '")[2].partition("'")[0]
    assert len(warehouse.json("sql", query)["rows"]) == 5


def test_other_problems_say_how_many_more_there_are(warehouse):
    """Three problems of a kind have a command each; the most urgent kinds come first."""
    warehouse.write("tangle_missing", *(story.missing(f"%m{n}") for n in range(4)))
    warehouse.write("sets", *({"set_id": f"s{n}", "root_status": "missing"} for n in range(5)))
    waits = {"set_id": "s", "is_valid": False, "is_held": False, "reject_reason": "unknown_account_tips"}
    awaited = [["a1"], ["a0", "a1"], ["a2"], ["a3"], ["a4"]]
    warehouse.fill("set_messages", "message_id awaited_ids", *zip("vwxyz", awaited, strict=True), **waits)
    bases = [(f"b{n}", "incomplete") for n in range(6)]
    warehouse.fill("autobase_bases", "base_id status", ("a", "ok"), *bases)
    warehouse.write("group_findings", *({"group_id": "%g", "finding": f"f{n}"} for n in range(4)))
    warehouse.write("ssb_rejects", *({"source_file": f"/{n}", "line": 1, "reason": "corrupt_file"} for n in range(5)))
    items = warehouse.json("status")["look_at"]
    asks = [item["ask"].partition(" --warehouse")[0] for item in items]
    assert [ask for ask in asks if " sql " not in ask] == [
        *(f"tangles why /{n}:1" for n in range(3)),
        *(f"tangles why %m{n}" for n in range(3)),
        *(f"tangles why a{n}" for n in (1, 0, 2)),
        *["tangles show %g --kind group"] * 3,
        *(f"tangles why s{n}" for n in range(3)),
        *(f"tangles show b{n} --kind base" for n in range(3)),
    ]
    found = [item["words"] for item in items]
    for said in (
        "2 more faults of files of the SSB log",
        "1 more message is missing; once it arrives, other messages become members of tangles",
        "2 more account messages that the log lacks are awaited by messages of sets",
        "2 more sets have no usable root",
        "3 more bases are incomplete or too large",
        "1 more kind of findings in private groups",
    ):
        assert said in found
