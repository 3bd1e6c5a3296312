"""The structure of each page at three sizes in both colour schemes, its accessibility (axe-core), and its keyboard."""

import json
from importlib import resources
from pathlib import Path

import pytest

import cli_story
import report_story as story
from cli_kit import Warehouse
from report_browser import LISTS, PAGES, WAIT, address, browse, drive, needs_chromium, url
from report_kit import make

pytestmark = needs_chromium

HERE = Path(__file__).parent
STRUCTURE, GEOMETRY, TICKS = ((HERE / name).read_text() for name in ("structure.js", "geometry.js", "ticks.js"))
AXE = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
SIZES = [(1440, 900), (820, 1180), (390, 844)]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return make(story.write_each_page(tmp_path_factory.mktemp("structure") / "wh"))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    return make(story.write_crowd(tmp_path_factory.mktemp("crowd") / "wh"))


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    return make(cli_story.write_broken_feed(Warehouse(tmp_path_factory.mktemp("broken") / "wh")))


@pytest.fixture
def browser():
    browser = browse(*SIZES[0])
    yield browser
    assert browser.console == []


def test_axes_name_each_tick_once(out, crowd):
    for report, where, least in ((out, "", 4), (crowd, "", 6), (out, "#group", 2)):
        axes, repeated, most = map(int, drive(report, where, TICKS).split(" | "))
        assert axes >= least and repeated == 0 and most >= 2
    depths = """
    await one(".drawing");
    say(...[...document.querySelectorAll(".drawing .depth")].map((each) => each.textContent));
    """
    shown = drive(out, address("tangle", f"thread:{cli_story.ROOT}"), depths).split(" | ")
    assert len(shown) == len(set(shown)) > 2


@pytest.mark.parametrize(
    ("size", "is_dark"),
    [
        (SIZES[0], False),
        (SIZES[2], True),
        *(pytest.param(SIZES[n], is_dark, marks=pytest.mark.long) for n, is_dark in ((0, True), (1, False))),
        *(pytest.param(SIZES[n], is_dark, marks=pytest.mark.long) for n, is_dark in ((1, True), (2, False))),
    ],
    ids=str,
)
def test_each_page_at_each_size(browser, out, crowd, broken, size, is_dark):
    """Texts are inside, clear of each other and of high contrast, landmarks are in sight, and pages fit their width."""
    pages = [(out, *page) for page in (PAGES | LISTS).items()]
    pages += [(crowd, "#tangle", ".lane"), (crowd, "", ".verdicts"), (broken, "#feed", ".hole")]
    faults, compared = {}, 0
    for report, where, shows in pages:
        browser.show(*size, is_dark)
        browser.visit(url(report, where), shows)
        # Texts are compared with the colours behind them, so the whole page has to be in view.
        browser.show(size[0], max(size[1], browser.run("return document.documentElement.scrollHeight")), is_dark)
        found = browser.run(STRUCTURE)
        assert found.pop("compared") > 20, where
        if shows in (".drawing", ".lane", ".hole"):
            drawing = json.loads(browser.run(f"{WAIT}{GEOMETRY}; return window.said"))
            if report is out and size == SIZES[0] and abs(drawing["width"] - drawing["frame"]) > 4:
                found["width"] = drawing["width"]  # The drawing fills its frame.
            found |= {f"{name} in drawing": drawing[name] for name in ("clipped", "covered", "off", "wrong")}
            compared += drawing["edges"]
        faults |= {(report.parent.name, where, name): each for name, each in found.items() if each}
    assert faults == {} and compared > 80


AXE_RUN = """
for (const each of document.querySelectorAll("details")) each.open = true;
const node = document.querySelector(".node[tabindex='0'], .event");
if (node) node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const { violations } = await axe.run(document, { resultTypes: ["violations"] });
const wordsOf = ({ any, all, none }) => [...any, ...all, ...none].map((each) => each.message).join("; ");
return violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.target.join(" "), wordsOf(node)]));
"""


@pytest.mark.long
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]], ids=["desktop", "phone"])
def test_axe(browser, out, size, is_dark):
    """Pages with all tables open and a node chosen are free of violations."""
    browser.show(*size, is_dark)
    found = {}
    for where, shows in (PAGES | LISTS).items():
        browser.visit(url(out, where), shows)
        browser.add(AXE)
        found[where] = browser.run(AXE_RUN)
    assert {where: faults for where, faults in found.items() if faults} == {}


def test_axe_finds_a_fault(browser, out):
    """The check fails on a page that lacks its language, and the text of a picture."""
    browser.visit(url(out), ".verdicts")
    browser.run("document.documentElement.lang = ''; document.querySelector('.chart').removeAttribute('aria-label');")
    browser.add(AXE)
    assert {"html-has-lang", "svg-img-alt"} <= {id_ for id_, *_ in browser.run(AXE_RUN)}


FOCUS = """
const at = document.activeElement;
if (!at || at === document.body) return null;
const box = at.getBoundingClientRect(), style = getComputedStyle(at);
const halo = at.querySelector(".halo"), isHalo = Boolean(halo) && getComputedStyle(halo).strokeWidth === "3px";
const isInside = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
return { n: at.dataset.n ?? null, isSeen: isInside && (style.outlineStyle !== "none" || isHalo) };
"""
CONTROLS = """
const all = [...document.querySelectorAll("a[href], button:enabled, input, select, summary, [tabindex='0']")];
const found = all.filter((each) => each.checkVisibility() && (each.type !== "radio" || each.checked));
found.forEach((each, n) => { each.dataset.n = n; });
document.activeElement.blur();
return found.map((each, n) => `${n} ${each.tagName} ${each.getAttribute("aria-label") || each.textContent || each.id}`);
"""


@pytest.mark.parametrize("where", PAGES, ids=lambda where: where or "glance")
def test_tab_reaches_each_control(browser, out, where):
    """Tab reaches all links, buttons, fields and drawings of a page, each in sight and marked, and leaves the page."""
    browser.visit(url(out, where), PAGES[where])
    controls, reached = browser.run(CONTROLS), []
    for _ in range(len(controls) + 40):
        browser.press("Tab")
        at = browser.run(FOCUS)
        if at is None or at in reached[:1]:
            break
        reached.append(at)
    names = [controls[int(each["n"])] if each["n"] else "scrolled region" for each in reached]
    assert (
        at in (None, reached[0])
        and [name for name, each in zip(names, reached, strict=True) if not each["isSeen"]] == []
    )
    assert {*controls} <= {*names} and len(controls) > 10


def test_keys_work_as_the_mouse_does(browser, out):
    """Tab and Enter reach the content, choose a node, and follow a link."""
    browser.visit(url(out, "#tangle"), ".drawing")
    browser.press("Tab")
    browser.press("Enter")
    assert browser.run("return document.activeElement.id") == "main"
    browser.run("document.querySelector('.node[tabindex=\"0\"]').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    wait = "while (!document.querySelector('%s')) await new Promise(requestAnimationFrame); return location.hash"
    assert browser.run(wait % ".why a").startswith("#tangle/thread")
    browser.run("document.querySelector('.why a').focus()")
    browser.press("Enter")
    script = (
        "while (!document.querySelector('.card .why')) await new Promise(requestAnimationFrame); return location.hash"
    )
    assert browser.run(script).startswith("#message/")
