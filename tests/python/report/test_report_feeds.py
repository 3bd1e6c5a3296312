"""Drawings of feeds: the chain, messages beside it, and gaps."""

import cli_story as story
from cli_kit import Warehouse
from dbt_tangles.report.feeds import _holes
from report_kit import make, node, shard


def test_a_broken_feed(tmp_path):
    out = make(story.write_broken_feed(Warehouse(tmp_path / "wh")))
    (entry,) = shard(out, "index")["kinds"]["feed"]["parts"]
    assert (entry["name"], entry["trouble"], entry["facts"]) == ("feed, forked", 6, "7 messages, 1 in the chain")
    view = shard(out, "feed-0")
    assert {each["lane"] for each in view["nodes"]} == {"chain", "not in the chain", "not here"}
    assert node(view, story.C1)["lane"] == "chain" and node(view, story.C2)["y"] == node(view, story.C2B)["y"]
    assert view["rows"] == [1, 2, 3, 6, 7, 8] and view["holes"] == [[3, "4 to 5 are missing"]]
    assert view["facts"]["forked at"] == 2 and view["facts"]["status"] == "forked"
    assert "forked" in str(shard(out, "feed-0-why"))


def test_the_place_where_the_chain_ends_is_drawn(tmp_path):
    """The drawing shows the end of the chain, not the end of the feed."""
    warehouse = Warehouse(tmp_path / "wh")
    rows = [story.message(f"m{n}", story.BOB, n, previous_id=f"m{n - 1}") for n in range(1, 1000) if n != 500]
    warehouse.write("ssb_messages", *rows)
    warehouse.write(
        "feed_messages",
        *(
            {"message_id": row["message_id"], "author": story.BOB, "sequence": row["sequence"]}
            | {"in_chain": row["sequence"] < 500, "reason": None if row["sequence"] < 500 else "after_gap"}
            for row in rows
        ),
    )
    counts = {"message_count": 998, "max_sequence": 999, "verified_length": 499, "gap_sequence": 500}
    warehouse.write("feeds", {"author": story.BOB, **counts, "status": "gap", "latest_message_id": "m499"})
    view = shard(make(warehouse, "--nodes", "20"), "feed-0")
    drawn = [each["depth"] for each in view["nodes"] if each["state"] != "missing"]
    assert drawn == [*range(490, 500), *range(501, 511)] and view["left_out"] == 978
    assert node(view, "m500")["words"] == "not in the log" and view["holes"] == []
    assert node(view, "m499")["marks"] == ["tip"]


def test_holes():
    assert _holes([1, 2, 5, 7], False) == [[2, "3 to 4 are missing"], [3, "6 is missing"]]
    assert _holes([3, 4], True) == [[0, "1 to 2 are missing"]]
    assert _holes([3, 4], False) == _holes([], True) == []
