"""Addresses name ids, so they mean the same in the next report, and a page shows only the views that have data."""

import pyarrow.parquet as pq

import cli_story
import report_story as story
from cli_kit import Warehouse
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make, shard

pytestmark = needs_chromium

THREAD = f"thread:{cli_story.ROOT}"


def test_an_address_means_the_same_in_the_next_report(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    where = address("tangle", THREAD, cli_story.A1)
    script = (
        'say((await one(".node.chosen")).getAttribute("aria-label"), document.querySelector("h2 small").textContent);'
    )
    first = drive(make(warehouse), where, script)
    assert first == "%a1AAAAAA, by @alice.ed25519, depth 1 | thread " + cli_story.ROOT
    counts = {"member_count": 50, "candidate_count": 50, "set_aside_count": 9}
    others = [cli_story.tangle(cli_story.sigil(f"x{n}"), **counts) for n in range(3)]
    warehouse.write("tangles", cli_story.tangle(cli_story.ROOT), *others)
    out = make(warehouse)
    keys = [part["key"] for part in shard(out, "index")["kinds"]["tangle"]["parts"]]
    assert keys.index(THREAD) == 3
    assert drive(out, where, script) == first


def test_choosing_a_node_puts_its_id_into_the_address(tmp_path):
    out = make(story.write(tmp_path / "wh"))
    script = """
    const before = history.length;
    (await one(".node[aria-label^='%a2']")).dispatchEvent(new MouseEvent("click"));
    await one(".why .line");
    say(location.hash, history.length - before);
    """
    assert drive(out, "#tangle", script) == f"{address('tangle', THREAD, cli_story.A2)} | 0"


def test_the_beginning_of_an_id_is_enough(tmp_path):
    page = dump(make(story.write(tmp_path / "wh")), address("tangle", THREAD[:12], cli_story.A1[:4]))
    assert "why %a1AAAAAA" in text(page)


def test_systems_without_data_have_no_tab(tmp_path):
    page = dump(make(cli_story.write_broken_feed(Warehouse(tmp_path / "wh"))))
    tabs = page.partition('<nav id="nav"')[2].partition("</nav>")[0]
    assert "Feeds" in tabs and not any(name in tabs for name in ("Tangles", "Sets", "Bases", "Groups", "Timelines"))


def test_a_tab_counts_all_entries(tmp_path):
    """The number of a tab is the total, also where fewer are drawn; the list tells how many are drawn."""
    warehouse = story.write(tmp_path / "wh")
    counts = {"candidate_count": 1, "member_count": 1, "set_aside_count": 0}
    others = [cli_story.tangle(f"%{n}", **counts) for n in range(3)]
    warehouse.write("tangles", cli_story.tangle(cli_story.ROOT), *others)
    script = """
    const found = [];
    await one("#nav a small");
    for (const tab of [...document.querySelectorAll("#nav a:has(small)")]) {
      location.hash = tab.getAttribute("href");
      await until(() => location.hash === document.body.dataset.shown);
      const entries = document.querySelectorAll(".list li, .rejects li");
      const said = document.querySelector(".list .note")?.textContent || "";
      found.push(`${tab.querySelector("small").textContent.trim()} ${entries.length} ${said}`);
    }
    say(...found);
    """
    counts = [each.split() for each in drive(make(warehouse, "--limit", "1"), "", script).split(" | ")]
    assert len(counts) == 7
    for tab, entries, *words in counts:
        drawn = f"{entries} of {tab} are drawn:" if tab != entries else f"All {tab} are drawn."
        assert not words or " ".join(words).startswith(drawn), (tab, entries, words)
    assert ("4", "1") in {(tab, entries) for tab, entries, *_ in counts}


def test_no_path_of_the_machine(tmp_path):
    """Neither the folder of the tables nor that of the log is in the report."""
    warehouse = story.write(tmp_path / "wh")
    inputs = [{"var": "ssb_log", "path": f"{tmp_path}/logs/mine.jsonl", "files": 1, "bytes": 9, "lines": 5}]
    warehouse.write("runs", cli_story.run("r", 3, tables=["tangles.feeds"], inputs=inputs))
    logs = f"file:{tmp_path}/logs"
    for table in ("autobase_rejects", "timeline_events"):
        rows = pq.read_table(warehouse.folder / table).to_pylist()
        warehouse.write(table, *({**row, "source_file": f"{logs}/{table}.jsonl"} for row in rows))
    empty = {"source_file": f"{logs}/empty.gz", "line": 0, "line_count": 0, "reason": "truncated_file"}
    claim = {"source_file": f"{logs}/claims.jsonl", "line": 4, "reason": "bad_signature", "claimed_key": cli_story.B1}
    warehouse.write("ssb_rejects", empty, claim)
    out = make(warehouse)
    page = text(dump(out))
    assert "of the build of 2026-01-01 03:00:00 UTC" in page and "mine.jsonl" in page and "empty.gz: " in page
    assert shard(out, "timeline-0")["nodes"][0]["title"] == "timeline_events.jsonl:1"
    assert "timeline_events.jsonl:1, author ann" in str(shard(out, "timeline-0-why"))
    assert "line 4 of claims.jsonl claims this id" in str(shard(out, "tangle-0-why"))
    for path in out.rglob("*.*"):
        assert str(tmp_path) not in path.read_text(encoding="utf-8"), path
