"""The report and `tangles status` count the same; duplicate tangles of one root count once."""

import pyarrow.parquet as pq
import pytest

import cli_story
from cli_kit import Warehouse
from cli_story import ROOT
from report_browser import address, dump, needs_chromium, text
from report_kit import make, shard

#: Names and roots of tangles beside the twins: a thread of its own, and one notation alone.
OTHERS = [("thread", "%other"), ("ssb:legacy_thread", "%third")]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    """Write a thread in both notations, two threads in one notation, and writer faults of each."""
    warehouse = cli_story.write_twins(tmp_path_factory.mktemp("counts") / "wh")
    for table, names in (("tangles", OTHERS), ("tangle_messages", OTHERS)):
        rows = pq.read_table(warehouse.folder / table).to_pylist()
        of_one = [row for row in rows if row["tangle_name"] == "thread"]
        others = [row | {"tangle_name": name, "root_id": root} for name, root in names for row in of_one]
        warehouse.write(table, *rows, *others)
    fault = {"root_id": ROOT, "message_id": cli_story.A2, "fault": "redundant_previous", "message_ids": []}
    return warehouse.write("tangle_writer_faults", *({**fault, "tangle_name": name} for name, _ in OTHERS))


@pytest.fixture(scope="module")
def out(warehouse):
    return make(warehouse)


def test_the_counts_of_the_report_are_those_of_status(warehouse, out):
    told = {row["table"]: row["once"] for row in warehouse.json("status")["counts"]}
    drawn = {row["table"]: {"total": row["total"], "counts": row["counts"]} for row in shard(out, "glance")["counts"]}
    assert drawn == told
    assert [drawn[table]["total"] for table in ("tangles", "tangle_messages", "tangle_writer_faults")] == [3, 15, 1]
    assert shard(out, "glance")["alike"] == [
        "1 thread is in both notations, ssb:legacy_thread and thread; each is counted once"
    ]


def test_lists_and_charts_have_equal_tangles_once(out):
    tangles = shard(out, "index")["kinds"]["tangle"]
    assert tangles["total"] == 3
    assert sorted((part["key"], part["name"], part["also"]) for part in tangles["parts"]) == [
        ("ssb:legacy_thread:%third", "ssb:legacy_thread", []),
        ("thread:%other", "thread", []),
        (f"thread:{ROOT}", "ssb:legacy_thread and thread", [f"ssb:legacy_thread:{ROOT}"]),
    ]
    glance = shard(out, "glance")
    assert sum(row["well"] + row["troubled"] for row in glance["sizes"]) == 3
    assert sum(row["well"] + row["troubled"] for row in glance["depths"]) == 3


def test_twins_that_differ_are_one_entry(tmp_path):
    """The tangle with more members stands for both; messages of the other one alone count, too."""
    warehouse = cli_story.write_twins(tmp_path / "wh")
    tangles = pq.read_table(warehouse.folder / "tangles").to_pylist()
    warehouse.write("tangles", *(row | {"member_count": 3 + (row["tangle_name"] == "thread")} for row in tangles))
    rows = pq.read_table(warehouse.folder / "tangle_messages").to_pylist()
    alone = next(row for row in rows if row["tangle_name"] != "thread") | {"message_id": "%alone"}
    stats = [{"timeline_id": f"{name}:{ROOT}", "event_count": 5} for name in ("thread", "ssb:legacy_thread")]
    warehouse.write("tangle_messages", *rows, alone).write("timeline_stats", *stats)
    out = make(warehouse)
    kinds = shard(out, "index")["kinds"]
    assert [(part["key"], part["also"]) for part in kinds["tangle"]["parts"]] == [
        (f"thread:{ROOT}", [f"ssb:legacy_thread:{ROOT}"])
    ]
    assert [part["key"] for part in kinds["timeline"]["parts"]] == [f"thread:{ROOT}"]
    counted = {row["table"]: row["total"] for row in shard(out, "glance")["counts"]}
    assert (counted["tangles"], counted["tangle_messages"]) == (1, 6)


@needs_chromium
def test_an_address_with_the_other_name_leads_to_the_tangle(out):
    page = text(dump(out, address("tangle", f"ssb:legacy_thread:{ROOT}")))
    assert "This report does not draw it" not in page and "ssb:legacy_thread and thread" in page
