"""A report as one file: each page works offline, and the file stays within its bound."""

import hashlib
import re

import pytest

import cli_story
import report_story as story
from dbt_tangles.report import search_index, single_file
from report_browser import PAGES, browse, needs_chromium
from report_kit import hostile


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return hostile(story.write_each_page(tmp_path_factory.mktemp("single") / "wh"))


@pytest.fixture
def file(warehouse, tmp_path):
    result = warehouse.ask("report", "--single-file", "--out", str(tmp_path / "mail"))
    assert result.exit_code == 0 and "left out" not in result.output, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mail.html"]
    return tmp_path / "mail.html"


@needs_chromium
def test_each_page_works(file):
    """All pages of a hostile log show their contents offline, and the console stays empty."""
    browser = browse(1400, 900)
    for where, shows in PAGES.items():
        if not where.startswith("#message"):
            browser.visit(f"{file.as_uri()}{where}", shows)
            assert browser.run("return performance.getEntriesByType('resource').length") == 0
            assert browser.run("return document.querySelectorAll('img, main script').length") == 0
            said = browser.run("return document.body.innerText")
            assert "\u202e" not in said and "\x1b" not in said and "cannot be read" not in said
    assert browser.console == []


def test_the_policy_names_each_script(file):
    """The page runs its own scripts alone: its policy has their digests, and data are blocks of JSON."""
    page = file.read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    scripts = re.findall(r"<script( [^>]*)?>", page)
    assert policy.count("'sha256-") == scripts.count("") + 1 == 2 and "self" not in policy and "unsafe" not in policy
    types = {re.match(r' type="([^"]+)"', each)[1] for each in scripts if each}
    assert types == {"application/json", "text/plain"} and "<script src" not in page and "<link" not in page
    assert page.count("<script") == page.count("</script>") and "Permission to use" in page


@needs_chromium
def test_a_large_report_leaves_out_drawings(warehouse, tmp_path, monkeypatch):
    """The file stays within the bound and keeps the first drawings; the command and the page say what is left out."""
    whole = warehouse.ask("report", "--single-file", "--out", str(tmp_path / "whole.html"))
    assert whole.exit_code == 0
    data = (tmp_path / "whole.html").read_text()
    drawings = re.findall(r'<script type="application/json" data-shard="[a-z]+-\d+(?:-why|-read)?">.*', data)
    most = len(data) - sum(map(len, drawings)) // 2
    monkeypatch.setattr(single_file, "MOST_BYTES", most)
    result = warehouse.ask("report", "--single-file", "--out", str(tmp_path / "mail.html"))
    found = re.search(r"left out, because a single file has at most 0\.\d MB: (\d+) of 7 drawings", result.output)
    assert result.exit_code == 0 and found and 1 < int(found[1]) < 7, result.output
    assert (tmp_path / "mail.html").stat().st_size <= most
    browser, url, left_out = browse(1400, 900), (tmp_path / "mail.html").as_uri(), 0
    for kind in ("tangle", "feed", "set", "base", "group", "timeline"):
        browser.visit(f"{url}#{kind}", ".subject h2")
        for link in browser.run("return [...document.querySelectorAll('.list a')].map((each) => each.hash)"):
            browser.visit(f"{url}{link}", ".subject h2")
            left_out += browser.run("return document.querySelectorAll('.left-out').length")
    assert left_out == int(found[1]) and browser.console == []


def test_the_index_is_bounded(tmp_path, monkeypatch):
    """The index of the search has the rest of the bound, and the command says how many entries it leaves out."""
    warehouse = story.write(tmp_path / "wh")
    ids = [hashlib.sha256(bytes([n % 256, n // 256])).hexdigest() for n in range(20_000)]
    warehouse.write("ssb_messages", *(cli_story.message(id_, cli_story.BOB, n) for n, id_ in enumerate(ids)))
    monkeypatch.setattr(search_index, "_CHUNK", 1000)
    monkeypatch.setattr(single_file, "MOST_BYTES", 510_000)
    result = warehouse.ask("report", "--single-file", "--out", str(tmp_path / "mail.html"))
    found = re.search(r"left out, .*: ([\d,]+) of 20,0\d\d entries of the search; ", result.output)
    assert found and 1000 < int(found[1].replace(",", "")) < 19_000, result.output
    assert 300_000 < (tmp_path / "mail.html").stat().st_size <= 510_000


def test_a_report_that_does_not_fit(warehouse, tmp_path, monkeypatch):
    monkeypatch.setattr(single_file, "MOST_BYTES", 100_000)
    result = warehouse.ask("report", "--single-file", "--out", str(tmp_path / "mail"))
    assert result.exit_code == 2 and "give a smaller --limit" in result.output and not [*tmp_path.iterdir()]


def test_other_files_stay(warehouse, file):
    file.write_text("my thesis")
    result = warehouse.ask("report", "--single-file", "--out", str(file))
    assert result.exit_code == 2 and "not a report" in result.output and file.read_text() == "my thesis"
