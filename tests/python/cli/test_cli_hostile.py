"""Every command escapes control characters and markup in texts of a log."""

import json

import pytest

import cli_story as story
import report_story
from cli_kit import HOSTILE, Warehouse, assert_harmless, tangles
from dbt_tangles.cli.page import Page, escape_line, escape_unprintable, print_json
from report_kit import EVIL, hostile


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


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    """Each kind of subject, message, rejected line and run, with a hostile text at the end of each text."""
    warehouse = report_story.write_each_page(tmp_path_factory.mktemp("hostile") / "wh")
    inputs = [{"var": "ssb_log", "path": HOSTILE, "files": 2, "bytes": 1000, "lines": None}]
    warehouse.write("runs", story.run(HOSTILE, 2, HOSTILE, inputs=inputs))
    row = {"source_file": "log", "line": 1, "reason": "malformed", "detail": "d", "timeline_id": "t", "event_id": "e"}
    return hostile(warehouse.write("timeline_rejects", row).write("timeline_updates"))


QUOTED = HOSTILE.replace("\x00", "").replace('"', '""')
GATE = "rejects,forks,gaps,set_aside,failed_run"
#: Commands, and their exit codes.
ASKED = [
    (("why", story.B2 + EVIL), 0),
    (("why", f"{report_story.A}:1{EVIL}"), 0),
    (("why", f"one{EVIL}"), 0),
    (("why", report_story.MORE + EVIL), 0),
    (("why", "%a"), 2),
    (("why", story.B2 + EVIL + "unknown"), 1),
    (("why", f"log{EVIL}:1"), 0),
    (("why", f"{HOSTILE}:1"), 1),
    (("why", HOSTILE), 2),
    (("why", "%\udcff"), 2),
    (("show", "\ud800"), 2),
    (("show", HOSTILE + "?"), 2),
    (("status",), 1),
    (("status", "--fail-on", GATE), 1),
    (("status", "--schema", HOSTILE), 2),
    (("follow", HOSTILE, "--into", "x.sqlite"), 1),
    (("send", "--ask"), 0),
    (("send", "--to", "clock"), 0),
    (("send", "--to", "clock", "--ask"), 0),
    (("send", "--to", "ids"), 0),
    (("check", "said"), 2),
    (("sql", "from feeds"), 0),
    (("sql", f'select 1 as "{QUOTED}"'), 0),
    (("sql", f"select '{QUOTED}"), 2),
]


@pytest.mark.parametrize(("words", "code"), ASKED, ids=range(len(ASKED)))
def test_each_command(warehouse, tmp_path, monkeypatch, words, code):
    monkeypatch.chdir(tmp_path)
    said = [{"feed": HOSTILE, "sequence": 1}, {"feed": story.ALICE + EVIL, "id": HOSTILE}]
    said += [{"tangle": "thread" + EVIL, "root": story.ROOT + EVIL, "previous": [HOSTILE]}]
    said += [{"set": report_story.SET + EVIL, "items": [HOSTILE, "\ud800"]}]
    lines = [*map(json.dumps, said), HOSTILE.replace("\n", " ")]
    (tmp_path / "said").write_text("\n".join(lines))
    (tmp_path / "clock").write_text(json.dumps({HOSTILE: 0, "\ud800": 1}))
    (tmp_path / "ids").write_text(json.dumps([HOSTILE + "x", "\ud800"]))
    for form in ([], ["--json"]):
        result = warehouse.ask(words[0], *form, *words[1:])
        assert result.exit_code == code, result.output
        assert_harmless(result)
        assert not form or result.stdout.isascii()


SHOWN = {"tangle": f"thread{EVIL}:{story.ROOT}{EVIL}", "feed": story.ALICE + EVIL, "set": report_story.SET + EVIL}
SHOWN |= {"base": "base" + EVIL, "group": report_story.GROUP + EVIL, "timeline": "room" + EVIL}


@pytest.mark.parametrize("kind", SHOWN)
def test_each_kind_of_graph(warehouse, kind):
    for form in ("text", "dot", "mermaid"):
        result = warehouse.ask("show", "--kind", kind, "--format", form, "--", SHOWN[kind])
        assert result.exit_code == 0, result.output
        assert_harmless(result)


def test_replicas(warehouse, tmp_path):
    other = report_story.write_each_page(tmp_path / "other")
    for form in ([], ["--json"]):
        result = tangles("diff", str(warehouse.root), str(other.root), *form)
        assert result.exit_code == 1
        assert_harmless(result)


def test_impossible_times_are_shown_as_numbers(tmp_path):
    for time in (float("inf"), float("nan"), -1e300, 1e18):
        warehouse = Warehouse(tmp_path / str(time))
        warehouse.write("ssb_messages", story.message(story.A1, story.ALICE, 1, asserted_ms=time))
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
    valid = story.candidate(story.A1, story.ALICE, 1, tangle_name="ssb:legacy_thread")
    warehouse.write("tangle_messages", story.candidate(story.A1, story.ALICE, None, **claim), valid)
    said = {row["tangle_name"]: row for row in warehouse.json("why", story.A1)["tangles"]}
    assert said.keys() == {name, "ssb:legacy_thread"}
    assert [(cause["id"], cause["trouble"]) for cause in said[name]["causes"]] == [(story.A1, "malformed_tangle")]
    text = warehouse.ask("why", story.A1).stdout
    assert ("tangle thread, unreadable root" if name else "claim without a tangle's name, unreadable root") in text
    assert "None" not in text and "tangle ssb:legacy_thread on" in text
    remedies = text.partition("what to do:\n")[2].splitlines()
    assert "publish a new message" in remedies[0] and "content.tangles maps each" in remedies[1]
    assert warehouse.ask("report", "--out", str(tmp_path / "report")).exit_code == 0
