"""Ids of each kind are found in every pasted form; a text that does not look like an id is wrong usage."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cli_story as story
from cli_kit import HOSTILE, assert_harmless
from dbt_tangles.cli.pasted_ids import candidates

MESSAGE = "%AbnN51gyEVmNZ/fs+KtC+z/oLmfsNhVvFhRijNJRH5k=.sha256"
OTHER = "%25bSN1gyEVmNZ/fs+KtC+z/oLmfsNhVvFhRijNJRH5k=.sha256"
FEED = "@P9+oVjR1xUerXF57obxs5G8/uERSdj0Xk/gU9AK8QS0=.ed25519"
PZP = "7GjpEA9WBFQ7mT62XUpgqJqsA2kh3NECfDh1fnaXimfw"
NODE = f"{'ab' * 32}:12"
EVENT = "$event/of a room"
BASE, TIMELINE = "my base", "!room:host"


def digest_of(sigil: str) -> str:
    return sigil[1:45].replace("+", "-").replace("/", "_")


#: Texts around an id, and texts that contain a whole id.
AROUND = ["{}", "  {}\n", "\u00a0{}\u200b", '"{}"', "“{}”", "`{}`", "<{}>", "({}),"]
WITHIN = [
    "[it]({})",
    "https://viewer.scuttlebot.io/{}",
    "<http://localhost:7777/#/msg/{}>",
    "https://example.org/show?id={}&page=2",
    "https://example.org/log.html#{}",
]


def around(id_: str) -> list[str]:
    encoded = quote(id_, safe="")
    return [*(text.format(id_) for text in AROUND), encoded, f" '{encoded}' "]


def pasted(id_: str) -> list[str]:
    encoded = quote(id_, safe="")
    return [
        *around(id_),
        *(text.format(encoded) for text in WITHIN),
        f"https://example.org/login?next={quote(encoded, safe='')}",
    ]


MESSAGES = [
    f"ssb:message/sha256/{digest_of(MESSAGE)}",
    f"ssb:message/classic/{digest_of(MESSAGE).rstrip('=')}",
    f"<ssb://message/sha256/{digest_of(MESSAGE)}>",
    f"SSB:message/sha256/{quote(digest_of(MESSAGE))}",
    f"ssb:message:sha256:{digest_of(MESSAGE)}",
    f"see ssb:message:classic:{digest_of(MESSAGE)}.",
    f"ssb:message/classic/{digest_of(MESSAGE)}?unbox=AAAA",
    f"https://example.org/?uri={quote(f'ssb:message/sha256/{digest_of(MESSAGE)}', safe='')}",
    f"%{quote(MESSAGE[1:], safe='')}",
    f"{MESSAGE}?unbox=AAAA",
    f"see {MESSAGE}.",
    digest_of(MESSAGE),
    MESSAGE[1:],
    f" {MESSAGE[:9]}",
    quote(MESSAGE[:18], safe=""),
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    warehouse = story.write(tmp_path_factory.mktemp("pasted") / "wh")
    messages = [story.message(MESSAGE, FEED, 1), story.message(OTHER, FEED, 2)]
    warehouse.write("ssb_messages", *messages)
    warehouse.write("feeds", story.feed(FEED, 2, OTHER))
    warehouse.write("feed_messages", {"message_id": MESSAGE, "author": FEED, "sequence": 1, "in_chain": True})
    warehouse.write("pzp_messages", {"message_id": PZP, "is_usable": True, "is_moot": True})
    warehouse.write("sets", {"set_id": PZP, "domain": "d"})
    warehouse.write("set_messages", {"set_id": PZP, "message_id": PZP, "is_valid": False})
    warehouse.write("autobase_nodes", {"base_id": BASE, "node_id": NODE, "role": "indexing"})
    warehouse.write("autobase_links")
    warehouse.write("autobase_rejects")
    warehouse.write("autobase_bases", {"base_id": BASE})
    place = dict.fromkeys(("line", "rank", "latest_rank", "position", "arrival"), 0)
    place |= {"source_file": "f", "missing_causes": [], "cyclic_causes": []}
    warehouse.write("timeline_events", {"timeline_id": TIMELINE, "event_id": EVENT, **place})
    warehouse.write("timeline_rejects")
    warehouse.write("timeline_stats", {"timeline_id": TIMELINE, "event_count": 1})
    warehouse.write("timeline_links", {"timeline_id": TIMELINE, "event_id": EVENT, "cause_id": "c", "kind": "given"})
    return warehouse


@pytest.fixture(scope="module")
def of_ssb(tmp_path_factory):
    """A warehouse of an SSB log alone: all its ids have a fixed form."""
    return story.write(tmp_path_factory.mktemp("ssb") / "wh")


@pytest.mark.parametrize(
    ("kind", "id_", "texts"),
    [
        ("message", MESSAGE, [*pasted(MESSAGE), *MESSAGES]),
        ("message", OTHER, pasted(OTHER)),
        ("pzp", PZP, pasted(PZP)),
        ("node", NODE, pasted(NODE)),
        ("event", EVENT, around(EVENT)),
    ],
)
def test_ids(warehouse, kind, id_, texts):
    for text in texts:
        answer = warehouse.json("why", text)
        assert (answer["kind"], answer["id"]) == (kind, id_), text


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("tangle", around(f"thread:{story.ROOT}")),
        ("feed", pasted(FEED)),
        ("base", around(BASE)),
        ("timeline", around(TIMELINE)),
        ("set", pasted(PZP)),
    ],
)
def test_shown_kinds_of_pasted_ids(warehouse, kind, texts):
    for text in texts:
        answer = warehouse.json("show", text, "--kind", kind)
        assert answer["id"] == texts[0].removeprefix("thread:"), text
    assert warehouse.ask("show", "--kind", "feed", f"ssb:feed/classic/{digest_of(FEED)}").exit_code == 0


@pytest.mark.parametrize(("id_", "whole"), [(NODE, BASE), (EVENT, TIMELINE), (PZP, PZP)])
def test_the_option_in_takes_pasted_ids(warehouse, id_, whole):
    for text in (f"<{whole}>", quote(whole, safe="")):
        assert warehouse.ask("why", id_, "--in", text).exit_code == 0
    assert warehouse.ask("why", id_, "--in", "another").exit_code == 1


@pytest.mark.parametrize("text", ["hello world", "not-an-id!", "https://example.org/", "<>", "%%", "???", HOSTILE])
@pytest.mark.parametrize("command", ["why", "show"])
def test_no_form_of_an_id(of_ssb, command, text):
    result = of_ssb.ask(command, "--", text)
    assert result.exit_code == 2 and "does not look like an id" in result.output
    assert "not in the log" not in result.output
    assert_harmless(result)


def test_names_of_free_choice(warehouse):
    """If events may have any name, an unknown name is not in the log; a sentence is wrong usage."""
    assert warehouse.ask("why", "not-an-id!").exit_code == 1
    assert warehouse.ask("why", "hello world").exit_code == 2
    assert warehouse.ask("why", "hello world", "--kind", "event").exit_code == 1


@pytest.mark.parametrize(
    "text", [MESSAGE, story.ROOT[:9], f"ssb:message/sha256/{digest_of(MESSAGE)}", "no1", "@x", NODE, PZP]
)
def test_forms_that_are_not_in_the_log(of_ssb, text):
    result = of_ssb.ask("why", text.replace("root", "r0ot"))
    assert result.exit_code == 1 and "not in the log" in result.stdout


def test_ids_without_their_sigil_that_only_tangles_or_lines_name(tmp_path):
    """A message that a tangle waits for, and ids that a rejected line and an accepted one claim."""
    missing, rejected, accepted = (f"%{(each * 22)[:43]}=.sha256" for each in ("+M", "R0", "a/"))
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("tangle_missing", story.missing(missing))
    place = {"source_file": "f", "line": 1, "reason": "bad_signature", "message_id": None}
    warehouse.write("ssb_rejects", {**place, "claimed_key": rejected})
    warehouse.write("ssb_messages", story.message(MESSAGE, FEED, 1, claimed_key=accepted))
    for id_, part in ((missing, "awaited_by"), (rejected, "claimed_by"), (accepted, "claimed_by")):
        for text in (id_[1:], id_[1:45], id_[1:44], id_[1:9], f'"{id_[1:]}"'):
            answer = warehouse.json("why", text)
            assert answer["id"] == id_ and answer[part], text
            assert warehouse.ask("why", text).stdout == warehouse.ask("why", id_).stdout
    assert warehouse.ask("show", story.ROOT[1:]).stdout == warehouse.ask("show", story.ROOT).stdout != ""


@given(st.text(max_size=200) | st.text("%25<>\"'ssb:/A=.@", max_size=200))
def test_forms_end(text):
    """Any text has few candidates, without repetitions; the text itself is the first."""
    found = [candidate.text for candidate in candidates(text)]
    assert len(found) == len({*found}) <= 50
    if text and not text.lower().startswith("ssb:"):
        assert found[0] == text
