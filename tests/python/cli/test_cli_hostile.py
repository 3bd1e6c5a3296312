"""Every command escapes control characters and markup in texts of a log."""

import json

import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse, assert_harmless
from dbt_tangles.cli.page import Page, escape_line, escape_unprintable, print_json


def test_plain():
    assert escape_unprintable("\x1b[31m") == r"\x1b[31m"
    assert escape_unprintable("a\nb\u202e\ud800\x9b") == r"a\nb\u202e\ud800\x9b"
    assert escape_unprintable("日本 ünïcode 🐚") == "日本 ünïcode 🐚"


def test_commands_of_workflows(capsys):
    """They are escaped at the places where a runner looks for them; a line of pieces is one line."""
    assert escape_line("::add-path::x") == r":\x3aadd-path::x" and escape_line("  ::x::") == r"  :\x3ax::"
    assert escape_line("a::b ##[group]") == r"a::b ##\x5bgroup]" and escape_line("a ::b") == "a ::b"
    assert escape_line("\n::x") == r"\n::x"
    Page().line(":", (":add-path::x##", "bold"), "[x", indent=1)
    print_json({"##[x": "::x"})
    line, *rest = capsys.readouterr().out.splitlines()
    assert line == r"  :\x3aadd-path::x##\x5bx"
    assert "##[" not in "".join(rest) and json.loads("".join(rest)) == {"##[x": "::x"}


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    evil = story.message(HOSTILE, HOSTILE, 1, content=HOSTILE, content_type=HOSTILE, previous_id=HOSTILE)
    warehouse.write("ssb_messages", evil)
    warehouse.write(
        "tangle_messages",
        story.candidate(
            HOSTILE, HOSTILE, None, tangle_name=HOSTILE, set_aside_reason="missing_previous", blocked_by=[HOSTILE + "2"]
        ),
    )
    row = {"source_file": HOSTILE, "line": 1, "reason": "malformed", "detail": HOSTILE, "event_id": HOSTILE}
    warehouse.write("timeline_rejects", {**row, "timeline_id": HOSTILE})
    return warehouse


def test_why(warehouse):
    result = warehouse.ask("why", HOSTILE)
    assert result.exit_code == 0 and "[red]x[/red]:smile:" in result.output
    assert_harmless(result)
    assert_harmless(warehouse.ask("why", HOSTILE[:3]))
    assert_harmless(warehouse.ask("why", HOSTILE + "unknown"))
    assert_harmless(warehouse.ask("why", "--line", f"{HOSTILE}:1"))


def test_errors(warehouse):
    assert_harmless(warehouse.ask("why", "--line", HOSTILE))
    assert_harmless(warehouse.ask("why", "%a", "--schema", HOSTILE))


def test_json_is_ascii(warehouse):
    result = warehouse.ask("why", HOSTILE, "--json")
    assert_harmless(result)
    assert result.stdout.isascii() and json.loads(result.stdout)["id"] == HOSTILE


def test_ids_that_are_not_unicode(warehouse):
    for words in (["why", "%\udcff"], ["show", "\ud800"]):
        result = warehouse.ask(*words)
        assert result.exit_code == 2 and "does not look like an id" in result.output
        assert_harmless(result)


def test_only_terminals_get_colours(tmp_path):
    assert "\x1b" not in story.write(tmp_path / "wh").ask("why", story.A1).output


def test_impossible_times_are_shown_as_numbers(tmp_path):
    for time in (float("inf"), float("nan"), -1e300, 1e18):
        warehouse = Warehouse(tmp_path / str(time))
        warehouse.write("ssb_messages", story.message(story.A1, story.ALICE, 1, asserted_at=time))
        assert warehouse.ask("why", story.A1).exit_code == 0


def test_the_greatest_sequence(tmp_path):
    """`tangles why` looks for the next sequence, which exceeds 32 bits here."""
    warehouse = story.write(tmp_path / "wh")
    last = {"author": story.BOB, "sequence": 2**31 - 1}
    warehouse.write("ssb_messages", story.message(story.B2, **last))
    warehouse.write("feed_messages", {"message_id": story.B2, **last, "in_chain": False, "reason": "after_gap"})
    assert warehouse.json("why", story.B2)["feed"]["reason"] == "after_gap"
    assert "2147483647" in warehouse.ask("why", story.B2).stdout
    assert warehouse.ask("report", "--out", str(tmp_path / "report")).exit_code == 0


@pytest.mark.parametrize("name", [None, "thread"])
def test_a_claim_that_is_no_object(tmp_path, name):
    """A malformed claim is listed beside a valid one, with the form of a valid claim."""
    warehouse = story.write(tmp_path / "wh")
    claim = {"set_aside_reason": "malformed_tangle", "blocked_by": [story.A1], "tangle_name": name, "root_id": None}
    warehouse.write(
        "tangle_messages",
        story.candidate(story.A1, story.ALICE, None, **claim),
        story.candidate(story.A1, story.ALICE, 1, tangle_name="ssb:legacy_thread"),
    )
    said = {row["tangle_name"]: row for row in warehouse.json("why", story.A1)["tangles"]}
    assert said.keys() == {name, "ssb:legacy_thread"}
    assert [(cause["id"], cause["trouble"]) for cause in said[name]["causes"]] == [(story.A1, "malformed_tangle")]
    text = warehouse.ask("why", story.A1).stdout
    assert ("tangle thread, unreadable root" if name else "claim without a tangle's name, unreadable root") in text
    assert "None" not in text and "tangle ssb:legacy_thread on" in text
    remedies = text.partition("what to do:\n")[2].splitlines()
    assert "publish a new message" in remedies[0] and "content.tangles maps each" in remedies[1]
    assert warehouse.ask("report", "--out", str(tmp_path / "report")).exit_code == 0
