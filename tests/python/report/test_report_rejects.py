"""Rejected lines: their places, reasons and details."""

import pytest

import cli_story
import report_story as story
from cli_kit import HOSTILE, Warehouse
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make, shard


def reject(file: str, line: int, reason: str, **columns) -> dict:
    return {"source_file": file, "line": line, "reason": reason, **columns}


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("runs", cli_story.run("r", 3, tables=["tangles.ssb_rejects"]))
    name, hostile = "file:/logs/mine.jsonl.gz", f"<script>alert(1)</script>{HOSTILE}"
    rows = [reject(name, 2, "not_a_message"), reject(name, 3, "malformed_json", detail=hostile)]
    rows += [reject(name, 4, "too_long", message_id=cli_story.BAD), reject(name, 5, "invalid_utf8", line_count=7)]
    return warehouse.write("ssb_rejects", *rows, reject("s3a://bucket/x.jsonl", 1, "not_a_message"))


def test_rows(warehouse):
    page = shard(make(warehouse), "rejects")
    rows = {(row["log"], row["file"], row["line"]): row for row in page["rows"]}
    assert page["total"] == 12 and page["left_out"] == 0 and len(rows) == 6  # 5 of SSB, one of them 7 times, 1 node
    assert rows["ssb", "mine.jsonl.gz", 3]["detail"].startswith(r"<script>alert(1)</script>::\x1b[31m##[group]\x07")
    assert rows["ssb", "x.jsonl", 1]["detail"] is None
    assert rows["ssb", "mine.jsonl.gz", 3]["meaning"].startswith("The line is not JSON")
    assert rows["autobase", "log", 9]["reason"] == "hole"


def test_each_reason_lists_its_first_lines(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    rows = [reject("log", n, "not_a_message") for n in range(250)] + [reject("log", 999, "too_long")]
    page = shard(make(warehouse.write("ssb_rejects", *rows)), "rejects")
    assert (page["total"], page["left_out"], len(page["rows"])) == (251, 150, 101)
    assert {row["line"] for row in page["rows"]} == {*range(100), 999}


@needs_chromium
def test_the_page(warehouse):
    out = make(warehouse)
    page = dump(out, address("rejects"))
    assert "12 rejected lines." in text(page) and page.count('class="reject') == 7  # the list and 6 entries
    assert "\x1b" not in page and "<script>alert" not in page and r"\x1b[31m##[group]\x07" in text(page)
    one = dump(out, address("rejects", "mine.jsonl.gz:3"))
    assert one.index('class="reject named" data-place="mine.jsonl.gz:3"') < one.index('class="reject" data-place')
    assert "1 of 6 entries" in text(dump(out, address("rejects", log="ssb", reason="too_long")))
    assert "tangles why 'other.jsonl:1' --warehouse" in text(dump(out, address("rejects", "other.jsonl:1")))


@needs_chromium
def test_problems_lead_to_their_places(warehouse):
    """Each entry of the list of problems is a link, and its page is about the problem."""
    warehouse.write("runs", cli_story.run("r", 3, tables=["a"]), cli_story.run("s", 4, "error", tables=["b"]))
    script = """
    await one(".look a");
    const found = [...document.querySelectorAll(".look li")], seen = [];
    for (const { words, to } of found.map((each) => ({ words: each.textContent, to: each.querySelector("a").hash }))) {
      location.hash = to;
      await until(() => document.body.dataset.shown === location.hash);
      const place = document.querySelector(".reject.named, .subject .drawing, .why .line, #runs:focus");
      const list = document.querySelector(".rejects") ? "list" : "nothing";
      seen.push(`${words.slice(0, 30)}: ${place ? place.classList[0] || place.id : list}`);
    }
    say(...seen);
    """
    seen = drive(make(warehouse), "", script).split(" | ")
    places = dict(each.split(": ") for each in seen)
    assert len(places) == 10 and {*places.values()} == {"reject", "list", "line", "runs", "drawing"}, seen
    assert [words for words, place in places.items() if place == "list"] == ["1 more rejected line of the SS"]


@needs_chromium
def test_without_rejected_lines_their_count_is_no_link(tmp_path):
    warehouse = cli_story.write_broken_feed(Warehouse(tmp_path / "wh")).write("ssb_rejects")
    page = dump(make(warehouse))
    assert (
        "rejected lines of the SSB log all 0" in text(page) and "#rejects" not in page and "#search?table=feeds" in page
    )
