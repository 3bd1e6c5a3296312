"""Messages altered after signing are found by the id that their lines still claim."""

import json

import pytest

from fixtures.pzp.author import Device, id_of
from fixtures.pzp.author import to_line as pzp_line
from fixtures.ssb.author import Author

SELECT = ("--select", "+ssb_messages", "+ssb_rejects", "+pzp_messages", "+pzp_rejects")
ALICE, BOB = Author.from_seed("alice"), Author.from_seed("bob")
PHONE = Device.from_name("phone")


def post(author: Author, text: str) -> dict:
    return author.publish({"type": "post", "text": text}, 1_500_000_000_000)


def altered(message: dict) -> dict:
    """Return the message with another text, and with its old key and signature."""
    value = message["value"]
    return {**message, "value": {**value, "content": {**value["content"], "text": "altered"}}}


WHOLE, ALTERED, LABELLED, BOTH = post(ALICE, "whole"), post(ALICE, "1"), post(ALICE, "2"), post(BOB, "3")
#: Keys that are not ids; the tables have null instead.
JUNK = ["x" * 50_000, WHOLE["key"] + "\n", f"<script>{WHOLE['key']}", "\x1b[31m" + "A" * 60, 7, None, ["%"], ""]
OTHER_KEY = f"%{'A' * 43}=.sha256"
SSB = [
    WHOLE,
    altered(ALTERED),
    {**LABELLED, "key": OTHER_KEY},
    BOTH,
    altered(BOTH),
    *({**altered(post(BOB, str(n))), "key": key} for n, key in enumerate(JUNK)),
]
DATA = {"add": ["x"], "del": [], "supersedes": []}
PZP = PHONE.write(DATA, {"root": {"depth": 1, "prev": ["root"]}}, "account", "set_v1__x", None)


@pytest.fixture(scope="module")
def built(project):
    bad = {**PZP, "metadata": {**PZP["metadata"], "domain": "set_v1__altered"}}
    pzp = [pzp_line(bad, claimed) for claimed in (id_of(PZP), "no id")]
    ssb = [json.dumps(message).encode() for message in SSB]
    return project("claimed_keys").given(ssb_log=ssb, pzp_log=pzp).run(*SELECT)


@pytest.fixture
def ask(built):
    """Run `tangles`; return the exit code and the output."""

    def run(*words: str, **options) -> tuple[int, str]:
        result = built.ask(*words, **options)
        return result.exit_code, result.output

    return run


def test_claimed_ids_in_the_tables(built):
    """`claimed_key` has the valid id that a rejected line states, or a usable message's stated id if it is another."""
    rejects = {row["line"]: row["claimed_key"] for row in built.rows("ssb_rejects")}
    assert rejects == {2: ALTERED["key"], 5: BOTH["key"]} | dict.fromkeys(range(6, 6 + len(JUNK)))
    claimed = {row["message_id"]: row["claimed_key"] for row in built.rows("ssb_messages") if row["is_usable"]}
    assert claimed == {WHOLE["key"]: None, LABELLED["key"]: OTHER_KEY, BOTH["key"]: None}
    assert [row["claimed_id"] for row in built.rows("pzp_rejects")] in ([id_of(PZP), None], [None, id_of(PZP)])


def test_why_of_an_altered_message(ask):
    for id_ in (ALTERED["key"], ALTERED["key"][:20]):
        code, said = ask("why", id_)
        assert code == 0 and said.startswith(ALTERED["key"])
        assert "line 2 of " in said and "claims this id, but its signature is wrong" in said
        assert "not in the log" not in said and "get the message from a peer, as its author signed it" in said
    # The answer lists the claim; the altered text is explained under its computed id.
    (claim,) = json.loads(ask("why", ALTERED["key"], "--json")[1])["claimed_by"]
    assert (claim["line"], claim["reason"]) == (2, "bad_signature")
    code, said = ask("why", claim["message_id"])
    assert code == 0 and "not verified: bad_signature" in said and ALTERED["key"] in said


def test_why_of_a_key_claimed_for_another_message(ask):
    code, said = ask("why", OTHER_KEY)
    assert code == 0 and f"a line claims this id for the message whose computed id is {LABELLED['key']}" in said
    code, said = ask("why", LABELLED["key"])
    assert code == 0 and "verified" in said and OTHER_KEY in said


def test_why_of_a_message_with_an_altered_copy(ask):
    code, said = ask("why", BOTH["key"])
    assert code == 0 and "verified: well-formed" in said and "also, line 5 of" in said


def test_why_of_an_altered_pzp_message(ask):
    code, said = ask("why", id_of(PZP))
    assert code == 0 and "claims this id, but its signature is wrong" in said


def test_check(ask):
    lines = [{"message": ALTERED["key"], "valid": True}, {"message": ALTERED["key"], "valid": False}]
    lines += [{"message": OTHER_KEY, "valid": True}, {"message": f"%{'B' * 43}=.sha256", "valid": True}]
    code, said = ask("check", "-", input="".join(json.dumps(line) + "\n" for line in lines))
    assert code == 1 and "1 agree, 2 differ, 1 unknown" in said
    assert "line 2 of " in said and "claims this id, but its signature is wrong" in said
    assert f"a line claims this id for the message whose computed id is {LABELLED['key']}" in said


def test_status(ask):
    items = json.loads(ask("status", "--json")[1])["look_at"]
    assert [item["words"].partition(",")[0] for item in items[:2]] == [
        f"{2 + len(JUNK)} rejected lines of the SSB log",
        "2 rejected lines of the pzp log",
    ]
    assert " why " in items[0]["ask"] and ".ssb_log.jsonl:2" in items[0]["ask"]
