"""The geometry of drawings and charts in a browser: width, labels, arrowheads, ticks."""

import json
from pathlib import Path

import pytest

import cli_story
import report_story as story
from cli_kit import Warehouse
from report_browser import address, drive, needs_chromium
from report_kit import make

pytestmark = needs_chromium

GEOMETRY = (Path(__file__).parent / "geometry.js").read_text()
TICKS = (Path(__file__).parent / "ticks.js").read_text()


def geometry(out, where: str) -> dict:
    """Measure a drawing; assert that its texts are inside and clear, and that its arrowheads touch their nodes."""
    found = json.loads(drive(out, where, GEOMETRY))
    assert found["texts"] > 2
    assert found["clipped"] == found["covered"] == found["off"] == found["wrong"] == []
    return found


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return make(story.write(tmp_path_factory.mktemp("drawing") / "wh"))


@pytest.mark.parametrize("kind", ["tangle", "feed", "set", "base", "group"])
def test_each_kind(out, kind):
    found = geometry(out, f"#{kind}")
    assert found["edges"] > 0 and abs(found["width"] - found["frame"]) <= 4  # The drawing fills its frame.


def test_a_broken_feed(tmp_path):
    assert geometry(make(cli_story.write_broken_feed(Warehouse(tmp_path / "wh"))), "#feed")["edges"] >= 5


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    return make(story.write_crowd(tmp_path_factory.mktemp("crowd") / "wh"))


def test_many_lanes(crowd):
    found = geometry(crowd, "#tangle")
    assert found["edges"] == 80 and found["lanes"] == 12


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
