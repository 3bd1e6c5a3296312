"""Threads as people read them: the published order, with author, time and text, and concurrent messages marked."""

import json
import re
from itertools import pairwise

import pytest

import cli_story as story
from dbt_tangles.report.pages import text_lines
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make, shard

A, B, C, D, E = story.DIAMOND


@pytest.fixture
def warehouse(tmp_path):
    """The thread A to E of the documents, with texts; D comes before C by time."""
    warehouse = story.write_diamond(tmp_path / "wh")
    order = {A: 0, B: 1, D: 2, C: 3, E: 4}
    rows = warehouse.rows("tangle_messages")
    for row in rows:
        place = order[row["message_id"]]
        row |= {"thread_position": place, "asserted_ms": 1.7e12 + place * 1000}
        row["tie_broken_with"] = D if row["message_id"] == C else None
    aside = story.candidate(story.B1, story.BOB, None, set_aside_reason="missing_previous", root_id=A)
    warehouse.write("tangle_messages", *rows, aside)
    texts = {A: "first\nsecond line", B: "<b>bold</b>\x1b[31m\u202e", C: "x" * 1500, D: "earlier", E: None}
    messages = [
        story.message(id_, story.ALICE, n, content=json.dumps({"type": "post", "text": said}), content_type="post")
        for n, (id_, said) in enumerate(texts.items())
    ]
    messages[-1] |= {"content": "abc.box", "is_encrypted": True, "content_type": None}
    return warehouse.write("ssb_messages", *messages)


def test_the_root_and_the_last_messages(warehouse):
    thread = shard(make(warehouse, nodes=3), "tangle-0-read")
    assert [row["id"] for row in thread["messages"]] == [A, C, E] and thread["left_out"] == 2


def test_texts_of_contents():
    assert text_lines('{"type":"vote","vote":{"value":1}}') == ['{"vote": {"value": 1}}']
    assert text_lines('{"text":["no text"]}') == ['{"text": ["no text"]}']
    assert [text_lines(text) for text in ("[1]", "{broken")] == [["[1]"], ["{broken"]]
    assert text_lines("[" * 9000)[-1][0] == "…"
    many = text_lines(json.dumps({"text": "\n" * 500}))
    assert len(many) == 41 and many[-1] == "… (500 characters)"


@needs_chromium
def test_the_page(warehouse):
    out = make(warehouse)
    page = dump(out, address("read", f"thread:{A}", C))
    said = text(page)
    places = [page.index(f'data-id="{id_}"') for id_ in (A, B, D, C, E, story.B1)]
    assert places == sorted(places)
    assert re.findall(r'class="post concurrent[^>]*data-id="([^"]+)"', page) == [D, C]
    posts = [text("<body" + page[start:end]) for start, end in pairwise([*places, len(page)])]
    told = ["first second line", r"<b>bold</b>\x1b[31m\u202e", "earlier", "… (1,500 characters)", "(encrypted)"]
    told.append("set aside: missing_previous")
    assert [words for words, post in zip(told, posts, strict=True) if words not in post] == []
    assert ["No link leads from this message to the one above" in post for post in posts] == [n == 3 for n in range(6)]
    assert "2023-11-14 22:13:20" in said and "<b>bold" not in page
    script = (
        'say((await one(".post.named")).dataset.id, document.querySelector(".choices a[aria-current]").textContent);'
    )
    assert drive(out, address("read", f"thread:{A}", D), script) == f"{D} | Text"
