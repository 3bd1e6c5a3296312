"""The pages of a report of `report_story.write_each_page`, each with an element that it shows."""

import json
from pathlib import Path

import cli_story
from browser_session import BrowserSession
from report_browser import address

PAGES = {
    "": ".verdicts",
    "#tangle": ".drawing",
    "#read": ".post",
    "#feed": ".drawing",
    "#set": ".drawing",
    "#base": ".drawing",
    "#group": ".matrix",
    "#timeline": ".event",
    "#records": ".record",
    "#rejects": ".reject",
    address("search", q="a"): ".entry",
    address("message", cli_story.A1): ".why .line",
}
#: Lists behind counts, each of an id of `report_story`.
LISTS = {
    address("glance", "runs", "r"): "#runs .only",
    address("base", "base", only="settled", observer="all"): ".only",
}
READY = """
while (!document.body.dataset.shown) await new Promise((done) => setTimeout(done, 5));
const isDrawn = () => !document.querySelector(".drawing") || document.querySelector(".canvas[data-fit]");
while (!isDrawn()) await new Promise(requestAnimationFrame);
"""


def url(out: Path, where: str = "") -> str:
    """Return the address of a page of a report."""
    return f"{(out / 'index.html').as_uri()}{where}"


def visit(browser: BrowserSession, url: str, shows: str) -> None:
    """Open a page and wait for it; assert that it shows an element."""
    browser.open(url)
    browser.run(READY)
    assert browser.run(f"return document.querySelectorAll({json.dumps(shows)}).length"), url
