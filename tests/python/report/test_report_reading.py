"""Threads as people read them: the published order, with author, time and text, and concurrent messages marked."""

import json

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
    rows = [story.candidate(id_, story.ALICE, depth) for id_, depth in ((A, 0), (B, 1), (C, 2), (D, 2), (E, 3))]
    for row in rows:
        id_ = row["message_id"]
        row |= {"root_id": A, "thread_position": order[id_], "asserted_ms": 1.7e12 + order[id_] * 1000}
        row |= {"concurrent_count": int(id_ in (C, D)), "tie_broken_with": D if id_ == C else None}
    aside = story.candidate(story.B1, story.BOB, None, set_aside_reason="missing_previous", root_id=A)
    warehouse.write("tangle_messages", *rows, aside)
    texts = {A: "first\nsecond line", B: "<b>bold</b>\x1b[31m\u202e", C: "x" * 1500, D: "earlier", E: None}
    messages = [
        story.message(id_, story.ALICE, n, content=json.dumps({"type": "post", "text": said}), content_type="post")
        for n, (id_, said) in enumerate(texts.items())
    ]
    messages[-1] |= {"content": "abc.box", "is_encrypted": True, "content_type": None}
    return warehouse.write("ssb_messages", *messages)


def test_order_and_texts(warehouse):
    thread = shard(make(warehouse), "tangle-0-read")
    assert [row["id"] for row in thread["messages"]] == [A, B, D, C, E]
    said = {row["id"]: row["text"] for row in thread["messages"]}
    assert said[A] == ["first", "second line"] and said[B] == [r"<b>bold</b>\x1b[31m\u202e"]
    assert said[C][-1] == "… (1,500 characters)" and said[E] == ["(encrypted)"]
    ties = {row["id"]: row["tie"] for row in thread["messages"]}
    assert ties == {A: None, B: None, C: D, D: None, E: None}
    assert [row["concurrent"] for row in thread["messages"]] == [0, 0, 1, 1, 0]
    assert [(row["id"], row["reason"]) for row in thread["aside"]] == [(story.B1, "missing_previous")]
    assert (thread["left_out"], thread["aside_total"]) == (0, 1)


def test_the_root_and_the_last_messages(warehouse):
    thread = shard(make(warehouse, nodes=3), "tangle-0-read")
    assert [row["id"] for row in thread["messages"]] == [A, C, E] and thread["left_out"] == 2


def test_texts_of_contents():
    assert text_lines('{"type":"vote","vote":{"value":1}}') == ['{"vote": {"value": 1}}']
    assert text_lines('{"text":["no text"]}') == ['{"text": ["no text"]}']
    assert (
        text_lines("[1]") == ["[1]"] and text_lines("{broken") == ["{broken"] and text_lines("[" * 9000)[-1][0] == "…"
    )
    many = text_lines(json.dumps({"text": "\n" * 500}))
    assert len(many) == 41 and many[-1] == "… (500 characters)"


@needs_chromium
def test_the_page(warehouse):
    out = make(warehouse)
    page = dump(out, address("read", f"thread:{A}", C))
    said = text(page)
    places = [page.index(f'data-id="{id_}"') for id_ in (A, B, D, C, E, story.B1)]
    assert places == sorted(places) and page.count('class="post concurrent') == 2
    assert "2023-11-14 22:13:20" in said and "second line" in said and "<b>bold</b>" in said and "<b>bold" not in page
    assert "No link leads from this message to the one above" in said and "set aside: missing_previous" in said
    script = (
        'say((await one(".post.named")).dataset.id, document.querySelector(".choices a[aria-current]").textContent);'
    )
    assert drive(out, address("read", f"thread:{A}", D), script) == f"{D} | Text"
