"""The queries behind the report's pictures: each is a file with its places, which the report and the docs name."""

import re
from pathlib import Path

import pytest

import report_story as story
import scripts
from conftest import ROOT
from dbt_tangles import queries
from report_browser import PAGES, browse, needs_chromium, url
from report_kit import make, shard

SOURCE = ROOT / "src" / "dbt_tangles"
#: Modules that select rows by conditions that depend on the built tables: the search, the answers of `why`, file names.
COMPOSED = {"file_names", "search_index", "slices", "why_answers"}


@pytest.mark.parametrize("name", queries.names())
def test_each_query_is_used(name):
    """A query is named in the code, alone or by its table or log."""
    code = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    family = re.match(r"verdicts_of_(?=\w)|rejected_lines_(?=\w)", name)
    assert f'"{name}"' in code or (family and f'f"{family[0]}{{' in code)


@pytest.mark.parametrize("name", queries.names())
def test_a_comment_of_one_line_names_the_place(name):
    first, second, *_ = queries.text_of(name).splitlines()
    assert len(first) <= 120 and not second.startswith("--")
    assert queries.read(name).text and queries.read(name).places


def test_the_reports_modules_hold_no_sql():
    found = {path.stem for path in (SOURCE / "report").glob("*.py") if re.search(r"\bselect\b", path.read_text())}
    assert found == COMPOSED


def test_common_tables_are_no_files():
    """Only tables of the warehouse are read from files: names of `with` and functions stay as they are."""
    sql = queries.query("tangle_histograms")
    assert "from {tangles} cross join unnest([" in sql and "from counted" in sql and "from ranges" in sql


def test_a_total_counts_the_rows_without_order_and_limit():
    assert queries.total_of("base_nodes").endswith("from {autobase_nodes}\nwhere base_id = $base) as counted")


@pytest.mark.parametrize("text", ["", "-- Report: no place.\n", "-- Report, tangles: open\n"])
def test_a_file_without_its_comment_is_refused(text, tmp_path, monkeypatch):
    (tmp_path / "lost.sql").write_text(f"{text}select 1\n")
    monkeypatch.setattr(queries, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"queries/lost\.sql: the first line must be"):
        queries.read("lost")


def test_the_docs_list_each_query():
    generate = scripts.load("docs/reference/generate_queries.py")
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page()


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return make(story.write_each_page(tmp_path_factory.mktemp("queries") / "wh"))


def test_the_report_has_the_files(out):
    texts = shard(out, "queries")
    assert texts == {path.stem: path.read_text() for path in (SOURCE / "queries").glob("*.sql")}


@needs_chromium
def test_each_picture_names_its_queries(out):
    """Each place names its files; opened, they show their SQL."""
    seen = {}
    browser = browse()
    for where, shows in PAGES.items():
        browser.visit(url(out, where), shows)
        seen |= browser.run(SHOWN)
    assert browser.console == []
    places = queries.by_place()
    assert {place: each["names"] for place, each in seen.items()} == {
        place: [f"{name}.sql" for name in names] for place, names in places.items()
    }
    assert {place: each["texts"] for place, each in seen.items()} == {
        place: [queries.text_of(name) for name in names] for place, names in places.items()
    }


SHOWN = """
const found = {};
for (const each of document.querySelectorAll(".queries")) {
  each.open = true;
  while (!each.querySelector("pre")) await new Promise((done) => setTimeout(done, 5));
  const textsOf = (selector) => [...each.querySelectorAll(selector)].map((one) => one.textContent);
  found[each.dataset.place] = { names: textsOf("summary code"), texts: textsOf("pre") };
}
return found;
"""
