"""The search of a report: the index has every row that the first page counts, and stays within its bound."""

import base64
import gzip
import hashlib
import json

import pyarrow.parquet as pq
import pytest

import cli_story
import report_story as story
from dbt_tangles.cli import verdict_counts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report import search_index
from dbt_tangles.report.search_sources import shorten
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make, shard

NODE = f"{story.A}:17"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """The story, with a fault of a writer, and a text and a time of a message."""
    warehouse = story.write(tmp_path_factory.mktemp("search") / "wh")
    fault = {"tangle_name": "thread", "root_id": cli_story.ROOT, "message_id": cli_story.A2, "message_ids": []}
    faults = [fault | {"fault": code} for code in ("previous_not_tip", "own_message_left_out")]
    warehouse.write("tangle_writer_faults", *faults)
    said = {"content": json.dumps({"type": "post", "text": "Garden of\nforking paths"}), "content_type": "post"}
    rows = [(cli_story.ROOT, 1), (cli_story.A1, 2), (cli_story.A2, 3)]
    messages = [cli_story.message(id_, cli_story.ALICE, n, asserted_ms=1.7e12 + n * 864e5) for id_, n in rows]
    messages[1] |= said
    messages += [cli_story.message(id_, cli_story.BOB, n) for id_, n in ((cli_story.B1, 1), (cli_story.B2, 2))]
    times = {each["message_id"]: each.get("asserted_ms") for each in messages}
    candidates = pq.read_table(warehouse.folder / "tangle_messages").to_pylist()
    flags = {cli_story.A1: {"is_fork": True}, cli_story.A2: {"is_merge": True}}
    warehouse.write(
        "tangle_messages",
        *(each | {"asserted_ms": times[(id_ := each["message_id"])]} | flags.get(id_, {}) for each in candidates),
    )
    tangle = pq.read_table(warehouse.folder / "tangles").to_pylist()[0]
    more = [tangle | {"root_id": f"%{n}", "candidate_count": n, "set_aside_count": n % 2, "depth": n} for n in range(9)]
    warehouse.write("tangles", tangle, *more, tangle | {"tangle_name": "ssb:feed"})
    runs = [cli_story.run("none", 2), cli_story.run("two", 3, tables=["tangles.feeds", "tangles.b"])]
    warehouse.write("runs", *runs, cli_story.run("one", 4, tables=["tangles.sets"]))
    bad = {"is_usable": False, "is_signature_valid": False, "check_error": "bad_signature"}
    return warehouse.write("ssb_messages", *messages, cli_story.message(cli_story.BAD, cli_story.BOB, 3, **bad))


@pytest.fixture(scope="module")
def out(warehouse):
    return make(warehouse)


def parts(out, chunk: str = "search-0") -> list[str]:
    return gzip.decompress(base64.b64decode(shard(out, chunk))).decode().split(search_index._PART)


def test_the_index_has_every_row_that_is_counted(warehouse, out):
    """For each table and verdict, the entries stand for as many rows as the first page counts."""
    names = shard(out, "search")
    numbers, ids, _ = parts(out)
    entries = [numbers[at : at + 14] for at in range(0, len(numbers), 14)]
    assert len(entries) == len(ids.split("\n")) == names["total"] == names["count"]
    rows = [names["verdicts"][n] for each in entries for n in names["combinations"][number(each[11:])]]
    for counted in verdict_counts.count(Tables(warehouse.root, "tangles")):
        found = {code: rows.count([counted["table"], code]) for code in counted["counts"]}
        assert found == counted["counts"], counted["table"]


def number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + bytes(search_index._DIGITS).index(ord(digit))
    return value


@pytest.fixture(scope="module")
def in_chunks(warehouse, tmp_path_factory):
    out = tmp_path_factory.mktemp("chunks") / "report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_index, "_CHUNK", 5)
        assert warehouse.ask("report", "--out", str(out)).exit_code == 0
    return out


def test_problems_come_first(out):
    _, ids, texts = parts(out)
    first = ids.split("\n").index(shorten(cli_story.B1))
    assert first < ids.split("\n").index(shorten(cli_story.A1))
    assert "post: Garden of forking paths" in texts.split("\n")


@pytest.mark.parametrize(("most", "length", "is_whole"), [(10**9, 400, True), (80_000, None, True), (1000, 0, False)])
def test_the_index_is_bounded(tmp_path, monkeypatch, most, length, is_whole):
    """Long texts are cut so that the index fits; if it does not fit without texts, the last entries are left out."""
    warehouse = story.write(tmp_path / "wh")
    rows = [
        cli_story.message(cli_story.sigil(f"m{n}x"), cli_story.BOB, n)
        | {
            "content": json.dumps({"text": hashlib.shake_128(bytes([n % 256, n // 256])).hexdigest(200)}),
            "content_type": "post",
        }
        for n in range(1000)
    ]
    warehouse.write("ssb_messages", *rows)
    monkeypatch.setattr(search_index, "_MOST_BYTES", 0)
    monkeypatch.setattr(search_index, "_LEAST_BYTES", most)
    out = make(warehouse)
    names = shard(out, "search")
    assert sum(path.stat().st_size for path in (out / "data").glob("search-*")) <= most + 100
    assert (names["count"] == names["total"]) == is_whole
    assert names["length"] == length if length is not None else 0 < names["length"] < 400


def test_ids_are_shortened():
    assert shorten(cli_story.ROOT) == cli_story.ROOT[:12]
    assert shorten(f"thread:{cli_story.ROOT}") == f"thread:{cli_story.ROOT[:12]}"
    assert (
        shorten(NODE) == f"{story.A[:12]}:17"
        and shorten("25VBuVGczWf256X2Hdz7KrrX3XXkmJ7VFnv7keLWhvqG") == "25VBuVGczWf2"
    )
    assert shorten("room") == "room"


@needs_chromium
def test_the_page_shortens_as_the_index_does(out):
    ids = [cli_story.ROOT, f"thread:{cli_story.ROOT}", NODE, "25VBuVGczWf256X2Hdz7KrrX3XXkmJ7VFnv7keLWhvqG", "room"]
    assert drive(out, "", f"say(...{json.dumps(ids)}.map(search.shorten));").split(" | ") == [*map(shorten, ids)]


SEARCH = """
const seen = [];
for (const where of %s) {
  location.hash = where;
  await until(() => document.body.dataset.shown === location.hash);
  const status = await one("#shown[data-rows]");
  const found = [...document.querySelectorAll(".entry > div:nth-child(2) > .id")];
  seen.push([status.dataset.rows, [...found].map((each) => each.textContent)]);
}
say(JSON.stringify(seen));
"""


@needs_chromium
def test_words_and_filters(out):
    """Ids, authors, texts and reasons are found; each word, and each filter, narrows the entries."""
    a1, a2, b1 = (shorten(id_) for id_ in (cli_story.A1, cli_story.A2, cli_story.B1))
    wanted = {
        address("search", q=cli_story.A1): (1, [a1]),
        address("search", q="FORKING gard"): (1, [a1]),
        address("search", q="forking absent"): (0, []),
        address("search", q="missing_previous"): (1, [b1]),
        address("search", q="own_message_left_out"): (1, [a2]),
        address("search", q=cli_story.ALICE, table="ssb_messages"): (3, [a2, a1, shorten(cli_story.ROOT)]),
        address("search", table="tangle_writer_faults"): (2, [a2]),
        address("search", table="tangle_messages", verdict="member", author="alice"): (3, None),
        address("search", **{"from": "2023-11-16", "to": "2023-11-16"}): (1, [a1]),
        address("search", **{"from": "2023-11-17"}): (1, [a2]),
        address("search", q="4", table="timeline_events"): (0, []),
    }
    found = json.loads(drive(out, "", SEARCH % json.dumps([*wanted])))
    for (where, (rows, ids)), (found_rows, found_ids) in zip(wanted.items(), found, strict=True):
        assert int(found_rows) == rows, where
        assert ids is None or sorted(found_ids) == sorted(ids), where


@needs_chromium
def test_each_count_leads_to_as_many_rows(out):
    """Each count of verdicts and charts is a link, and its page has as many rows or rejected lines."""
    script = """
    await one(".verdicts");
    const links = [...document.querySelectorAll(".verdicts a, figure a")], seen = [];
    const wanted = links.map((each) => [each.hash, (each.querySelector("b") || each).textContent]);
    const inCharts = document.querySelectorAll("figure a").length;
    const columns = [...document.querySelectorAll(".sense.link")];
    columns[0].dispatchEvent(new MouseEvent("click"));
    seen.push(location.hash);
    await until(() => document.body.dataset.shown === location.hash);
    for (const [hash, number] of wanted) {
      location.hash = hash;
      await until(() => document.body.dataset.shown === hash);
      const status = await one("#shown[data-rows], .rejects, .only tbody");
      const listed = document.querySelectorAll(".reject, .only tbody tr").length;
      const rows = status.id ? status.dataset.rows : String(listed);
      if (rows !== number) seen.push(`${hash} ${number} ${rows}`);
    }
    say(wanted.length, inCharts, columns.length, ...seen);
    """
    links, in_charts, columns, column, *wrong = drive(out, "", script).split(" | ")
    assert wrong == [] and column.startswith("#search?table=messages_by_kind") and "to=20" in column
    assert (int(links), int(in_charts), int(columns)) == (59, 25, 8)


@needs_chromium
def test_the_page_of_an_id_and_the_search_read_all_chunks(in_chunks):
    script = """
    const entry = await one(".entry");
    location.hash = `search?q=${encodeURIComponent("%s")}`;
    const found = await one("#shown[data-rows]");
    const same = document.querySelector(".entry").textContent.includes("Garden");
    say(entry.textContent.includes("Garden"), found.dataset.rows, same);
    """
    assert shard(in_chunks, "search")["chunks"] > 4
    assert drive(in_chunks, address("message", cli_story.A1), script % cli_story.A1) == "true | 1 | true"


@needs_chromium
def test_typing(out):
    script = """
    await until(() => document.body.dataset.shown);
    const box = document.querySelector("#q");
    box.focus();
    box.value = "forking";
    box.dispatchEvent(new Event("input"));
    await until(() => document.querySelector(".entry"));
    say(location.hash, document.activeElement.id, document.querySelectorAll(".entry").length);
    """
    assert drive(out, "", script) == "#search?q=forking | q | 1"


@needs_chromium
def test_the_page_of_an_id(out):
    page = text(dump(out, address("message", cli_story.A1)))
    assert "post: Garden of forking paths" in page and "Drawn in" in page and "tangle_messages: member" in page
    assert "tangles why 'elsewhere'" in text(dump(out, address("message", "elsewhere")))


@needs_chromium
def test_each_count_of_a_subject_leads_to_its_list(tmp_path):
    """Each count of a fact, of an epoch's feeds and of an observer's order is a link to as many entries."""
    script = """
    const seen = [], hashes = [];
    await one(".verdicts");
    for (const kind of ["tangle", "feed", "set", "base", "group", "timeline"]) {
      location.hash = kind;
      await until(() => document.body.dataset.shown === `#${kind}`);
      for (const each of document.querySelectorAll(".facts a, .members details a, .observer a")) {
        const observer = each.closest(".observer") && each.closest("label").querySelector("bdi").textContent;
        const of = observer && `${observer} ${readAddress(each.hash).filters.get("only")}`;
        const fact = of || (each.closest("dl") ? each.closest("div").querySelector("dt").textContent : "feeds");
        hashes.push([kind, fact, each.textContent, each.hash]);
      }
    }
    for (const [kind, fact, number, hash] of hashes) {
      location.hash = hash;
      await until(() => document.body.dataset.shown === hash);
      const list = await one("#shown[data-rows], .only tbody, #role, details[open] tbody");
      const feeds = document.querySelectorAll(".matrix tbody tr").length;
      const rows = list.dataset.rows || (list.id === "role" ? feeds : list.children.length);
      seen.push(`${kind}: ${fact}${String(rows) === number ? "" : ` ${number} ${rows}`}`);
    }
    say(...seen);
    """
    out = make(story.write_each_page(tmp_path / "wh"))
    assert drive(out, "", script).split(" | ") == [
        *(f"tangle: {name}" for name in ("members", "set aside", "tips")),
        *(f"feed: {name}" for name in ("messages", "in the chain")),
        *(f"set: {name}" for name in ("messages", "not valid", "items", "item roots", "tips")),
        *(f"base: {name}" for name in ("all nodes settled", "all nodes order")),
        *(f"base: {name}" for name in (f"{story.A[:8]} settled", f"{story.A[:8]} order", f"{story.B[:8]} order")),
        *(f"base: {name}" for name in ("nodes", "settled", "not settled", "indexing writers")),
        *(f"group: {name}" for name in ("epochs", "tips", "feeds", "feeds", "feeds", "feeds")),
        *(f"timeline: {name}" for name in ("events", "authors", "ranks", "steps")),
    ]
