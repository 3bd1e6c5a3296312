"""A report in a browser: without console errors and requests, with the contents of the tables."""

import re

import pytest

import cli_story
import report_story as story
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return make(story.write(tmp_path_factory.mktemp("browser") / "wh"))


def test_tangle_and_why(out):
    page = dump(out, address("tangle", f"thread:{cli_story.ROOT}", cli_story.B2))
    assert page.count('data-node="') == 6 and page.count('class="edge') == 5
    assert re.search(r'class="node aside[^"]*chosen', page)
    assert "root cause:" in text(page) and "not in the log" in text(page)


def test_the_slider(out):
    script = """
    const slider = await one("#step"), orders = [], stage = document.querySelector(".stage");
    for (const step of [0, 1, 2, 3, 4, 2, 5]) {
      slider.value = step;
      slider.dispatchEvent(new Event("input"));
      orders.push(stage.dataset.order || "nothing");
    }
    say(...orders);
    """
    # one, two, three, four are 0 to 3; see `report_story`.
    assert drive(out, "#timeline", script) == "nothing | 1 | 1 3 | 2 1 3 | 0 2 1 3 | 1 3 | 0 1 2 3"


def test_playing(out):
    script = """
    const play = await one("#play"), words = document.querySelector("output");
    play.click();
    await until(() => words.textContent.startsWith("Step 2"));
    const during = play.textContent;
    await until(() => words.textContent.includes("published") && play.textContent.includes("Play"));
    say(during, document.querySelector(".stage").dataset.order);
    """
    assert drive(out, "#timeline", script) == "❚❚ Pause | 0 1 2 3"


def test_a_timeline_without_steps_has_no_buttons_and_comes_last(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    stats = {"event_count": 4, "edits_per_event": 2.0}
    warehouse.write("timeline_stats", *(stats | {"timeline_id": id_} for id_ in ("lost", "room")))
    script = """
    await one(".stage");
    const count = () => document.querySelectorAll(".player, output").length;
    const seen = [document.querySelector(".list [aria-current]").dataset.key, count()];
    location.hash = "#timeline/lost";
    await until(() => document.body.dataset.shown === location.hash);
    say(...seen, count());
    """
    assert drive(make(warehouse), "#timeline", script) == "room | 2 | 0"


def test_the_picture_comes_before_the_facts(out):
    script = """
    const facts = await one(".facts"), picture = await one(".drawing");
    say(Boolean(picture.compareDocumentPosition(facts) & Node.DOCUMENT_POSITION_FOLLOWING));
    """
    assert {drive(out, where, script) for where in ("#tangle", "#feed", "#set", "#base", "#group")} == {"true"}


PLACE = """
const place = await one(".canvas"), scene = document.querySelector(".drawing > g");
await until(() => scene.getAttribute("transform"));
const at = () => d3.zoomTransform(document.querySelector(".drawing"));
"""


def test_zoom_by_buttons_and_keys(out):
    script = f"""{PLACE}
    const seen = [at().k], node = document.querySelector(".node");
    place.querySelector("[aria-label^='Zoom in']").click();
    seen.push(at().k);
    press(node, "+");
    seen.push(at().k);
    press(node, "-");
    press(node, "-");
    seen.push(at().k);
    press(node, "0");
    say(...seen.map((k) => k.toFixed(2)), at().k.toFixed(2), scene.getAttribute("transform").includes("scale("));
    """
    *steps, whole, is_applied = drive(out, "#tangle", script).split(" | ")
    first, *rest = map(float, steps)
    assert [round(k / first, 1) for k in rest] == [1.3, 1.7, 1.0]
    assert 0 < float(whole) <= 1 and is_applied == "true"


def test_moving_by_keys_wheel_and_drag(out):
    script = f"""{PLACE}
    const seen = [], picture = document.querySelector(".drawing"), node = document.querySelector(".node");
    for (let n = 0; n < 6; n++) press(node, "+");
    const key = (key) => node.dispatchEvent(new KeyboardEvent("keydown", {{ key, shiftKey: true, bubbles: true }}));
    const before = at();
    key("ArrowRight");
    key("ArrowDown");
    seen.push(at().x < before.x && at().y < before.y);
    const point = {{ bubbles: true, cancelable: true, clientX: 300, clientY: 300, view: window }};
    const wheel = (options) => picture.dispatchEvent(new WheelEvent("wheel", {{ deltaY: 60, ...point, ...options }}));
    const lower = at();
    seen.push(wheel({{}}) === false && at().y < lower.y && at().k === lower.k);
    seen.push(wheel({{ ctrlKey: true }}) === false && at().k < lower.k);
    const mouse = (target, kind, clientX) => target.dispatchEvent(new MouseEvent(kind, {{ ...point, clientX }}));
    const left = at();
    mouse(picture, "mousedown", 300);
    mouse(window, "mousemove", 340);
    mouse(window, "mouseup", 340);
    seen.push(Math.round(at().x - left.x));
    press(node, "0");
    seen.push(wheel({{ deltaY: -60 }}));
    say(...seen);
    """
    assert drive(out, "#tangle", script) == "true | true | true | 40 | true"


def test_the_focused_element_is_visible(tmp_path):
    """Keys that focus a node scroll the drawing to it, from any distance."""
    warehouse = story.write(tmp_path / "wh")
    chain = [f"%c{n:02}" for n in range(60)]
    warehouse.write("ssb_messages", *(cli_story.message(id_, cli_story.BOB, n) for n, id_ in enumerate(chain)))
    warehouse.write("tangle_messages", *(cli_story.candidate(id_, cli_story.BOB, n) for n, id_ in enumerate(chain)))
    script = f"""{PLACE}
    const first = await one(".node[tabindex='0']"), seen = [];
    const isSeen = (node) => {{
      const [box, frame] = [node.getBoundingClientRect(), document.querySelector(".drawing").getBoundingClientRect()];
      return box.top >= frame.top && box.bottom <= frame.bottom;
    }};
    const last = [...document.querySelectorAll(".node")].at(-1);
    seen.push(isSeen(last));
    first.focus();
    press(first, "End");
    seen.push(isSeen(document.activeElement), document.activeElement === last, isSeen(first));
    press(last, "Home");
    say(...seen, isSeen(first));
    """
    assert drive(make(warehouse), "#tangle", script) == "false | true | true | false | true"


def test_the_observer_that_is_chosen(out):
    script = """
    const choose = await one("#observer-2"), open = () => document.querySelectorAll(".node.open").length;
    const before = open();
    choose.click();
    say(before, open(), document.querySelectorAll(".node.unseen").length);
    """
    assert drive(out, "#base", script) == "2 | 2 | 1"


def test_a_base_that_is_shown_again_has_the_same_words(out):
    script = """
    const words = () => [...document.querySelectorAll(".node")].map((each) => each.getAttribute("aria-label")).join();
    await one(".observer");
    const first = words();
    document.querySelector(".observer a").click();
    await one(".only");
    say(first.includes("quorum of degree 3"), words() === first);
    """
    assert drive(out, "#base", script) == "true | true"


@pytest.mark.parametrize("where", ["", "#tangle", "#feed", "#set", "#base", "#group", "#timeline"])
def test_a_table_behind_each_picture(out, where):
    script = """
    await until(() => document.querySelector("details"));
    const pictures = document.querySelectorAll("svg.chart, svg.drawing, .stage, .all-verdicts").length;
    say(pictures, document.querySelectorAll("details table").length >= pictures);
    """
    count, are_there = drive(out, where, script).split(" | ")
    assert int(count) > 0 and are_there == "true"


def test_the_page_sends_no_requests(out):
    """The kit detects requests: the policy forbids them, and the console reports it."""
    for script in (
        "fetch('https://example.com/');",
        "document.body.append(h('img', { src: 'https://example.com/x' }));",
    ):
        with pytest.raises(AssertionError, match="Content Security Policy"):
            drive(out, "", script)


def test_an_unknown_id_shows_a_message(out):
    page = text(dump(out, address("set", "elsewhere")))
    assert "This report does not draw it." in page and "tangles show 'elsewhere' --kind set" in page
    assert "At a glance" in text(dump(out, "#<script>alert(1)</script>"))
