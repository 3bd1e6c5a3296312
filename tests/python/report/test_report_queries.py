"""The queries behind the report's pictures: each is a file with its places, which the report and the docs name."""

from pathlib import Path

import pytest

import report_story as story
from conftest import ROOT
from dbt_tangles import queries
from report_browser import PAGES, browse, needs_chromium, url
from report_kit import make, shard

SOURCE = ROOT / "src" / "dbt_tangles"


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
  found[each.dataset.place] = { names: textsOf("code"), texts: textsOf("pre") };
}
return found;
"""
