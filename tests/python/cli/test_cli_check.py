"""`tangles check`: statements of a peer compared with the tables, and the explanation of each difference."""

import json

import pytest

import cli_story as story
from cli_story import A1, A2, ALICE, B2, BAD, BOB, GONE, ROOT
from dbt_tangles.cli import peer_answers
from dbt_tangles.cli.messages import pzp

FEED = {"feed": ALICE}
TANGLE = {"tangle": "thread", "root": ROOT}
COLUMNS = {"kind": "tangle", "tangle_name": "thread", "root_id": ROOT}
VIEW = {"view": "b", "observer": "all"}
LAST = f"{A2} is a member that no other member follows"
BEHIND = "previous_set_aside. A message that it follows is set aside."
COMPLETE = "the feed is complete: 3 messages"
ASIDE = [
    "1 set aside: missing_previous. A message in its previous is not in the log, is sealed (encrypted) in this export, "
    "or does not claim to belong to this tangle.",
    f"1 set aside: {BEHIND}",
    f"once {GONE} arrives, 2 become members",
]
HOLE = "hole. The node before it in its writer's log is missing."
RULE = "the rule subset selects the preferred epoch"

AGREE = [
    {"message": A1, "valid": True},
    {"message": f"ssb:message/classic/{BAD[1:44]}", "valid": False},
    {**FEED, "sequence": 3, "id": A2},
    {"feed": BOB, "sequence": 2, "ts": 1},
    {**TANGLE, "previous": [A2], "members": 3},
    {**COLUMNS, "members": [A2, A1, ROOT], "tips": [A2], "order": [ROOT, A1, A2]},
    {"epoch": "e", "members": ["y", "in"]},
    {"group": "g", "preferred": "e"},
    {"set": "s", "items": ["dan", "carol"], "prev": ["m2", "m4"], "depth": 3},
    {"set": "open", "items": [], "prev": ["root"]},
    {"base": "b", "length": 2, "confirmed": 1},
    {**VIEW, "order": ["n0", "n1"]},
    {"timeline": "t", "order": ["e0", "e1", "e2"]},
    {"kind": "set", "set_id": "s", "items": ["dan", "carol"], "item_roots": ["r"]},
    {"kind": "base", "base_id": "b", "observer": "all", "order": ["n0", "n1"], "confirmed_length": 1},
    {"kind": "timeline", "timeline_id": "t", "order": ["e0", "e1", "e2"]},
]
#: Statements that differ, a text of the answer, and the explanations.
DIFFER = [
    (
        {"message": A1, "valid": False},
        "says False, the tables say True",
        ["it is well-formed and signed by its author"],
    ),
    (
        {"message": BAD, "valid": True},
        "valid: the peer says True, the tables say False",
        ["bad_signature: The author did not sign this text (with this network key)."],
    ),
    ({**FEED, "sequence": 9}, "sequence: the peer says 9, the tables say 3", [COMPLETE, "this log ends at 3"]),
    ({**FEED, "sequence": 2}, "sequence", [COMPLETE, f"the peer lacks {A2} or rejects it"]),
    ({**FEED, "id": GONE}, "id", [COMPLETE, f"{GONE} is not in the log"]),
    ({**FEED, "id": B2}, "id", [COMPLETE, f"{B2} belongs to another author, {BOB}"]),
    ({**FEED, "id": A1}, "id", [COMPLETE, f"{A1} has sequence 2 in these tables"]),
    (
        {**TANGLE, "previous": [B2, GONE]},
        f"previous: only the peer has {B2}, {GONE}; only the tables have {A2}",
        [f"{B2} is set aside: {BEHIND}", f"{GONE} is not in the log", LAST],
    ),
    ({**TANGLE, "previous": [A2, A1]}, "previous", [f"{A1} is followed by {A2}"]),
    ({**TANGLE, "previous": [A2, BAD]}, "previous", [f"{BAD} is not verified: bad_signature"]),
    ({**TANGLE, "members": 5}, "members", ASIDE),
    ({**COLUMNS, "members": [A2]}, "members: only the tables have", ASIDE),
    ({**COLUMNS, "tips": ["%x"]}, f"only the peer has %x; only the tables have {A2}", ["%x is not in the log", LAST]),
    ({**COLUMNS, "order": [A2, A1, ROOT]}, "order: at place 0", []),
    (
        {"epoch": "e", "members": ["out", "lost", "who", "y"]},
        "members: only the peer has out, lost, who; only the tables have in",
        [
            "out is excluded by %x",
            "lost is missing: it belongs to the epoch, but no message adds it",
            "who is not added by any counted message",
            "in is added by %a",
        ],
    ),
    ({"group": "g", "preferred": "f"}, "preferred", [RULE, "f is not a tip"]),
    ({"group": "g", "preferred": "?"}, "preferred", [RULE, "? is not an epoch of the group"]),
    (
        {"set": "s", "items": ["gone", "never", "dan"]},
        "items",
        ["gone is deleted", "never is not added by any valid message", "carol is added by m1"],
    ),
    ({"set": "s", "items": ["carol", "dan", "dan"]}, "items: the peer has 3 entries, the tables have 2", []),
    ({"set": "s", "prev": ["m4", "m2"]}, "prev: at place 0 the peer has m4, the tables have m2", []),
    ({"set": "s", "prev": ["m1"]}, "prev", ["m1 is not a tip: another valid message follows it"]),
    (
        {"set": "s", "prev": ["m3"]},
        "prev",
        ["m3 is not valid: no_known_prev. Nothing in prev is a valid message of the tangle."],
    ),
    (
        {"set": "open", "prev": ["u1"]},
        "prev",
        [
            "u1 is undecided: unknown_account_tips. " + pzp("unknown_account_tips"),
            "1 message of the set is not valid",
            "2 messages of the set await messages of the account: t1, t2",
        ],
    ),
    ({"kind": "set", "set_id": "s", "item_roots": []}, "item_roots: only the tables have r", []),
    ({"base": "b", "length": 9}, "length", [f"1 line rejected: {HOLE}"]),
    ({"base": "b", "confirmed": 2}, "", ["the first node that is not settled is n1, because n7 competes with it"]),
    ({"base": "done", "confirmed": 0}, "confirmed", ["all nodes are settled"]),
    ({**VIEW, "order": ["n1", "n0"]}, "order: at place 0", ["n1 is at place 1 in these tables, not settled"]),
    ({**VIEW, "order": ["n0", "n9", "nx"]}, "order", [f"n9 is rejected: {HOLE}", "nx is not in the tables"]),
    ({"timeline": "t", "order": ["e1", "e0", "e2"]}, "at place 0", ["e1 is at place 1 in these tables, rank 4"]),
    ({"kind": "timeline", "timeline_id": "t", "order": ["e0"]}, "order: only the tables have e1, e2", []),
    (
        {"timeline": "t", "order": ["e0", "e9"]},
        "order",
        ["e9 is rejected: cycle. One of its causes follows the event, so the event would follow itself."],
    ),
    (
        {"timeline": "t", "order": [f"p{n}" for n in range(2000)]},
        "only the peer has p0, p1, p2 and 1,997 more",
        [f"p{n} is not in the tables" for n in range(3)],
    ),
]
UNREADABLE = [
    ("{", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("\xff\xfe{", "not JSON"),
    ("[]", "not a JSON object"),
    ("{}", "no subject; the line must have one of message, feed"),
    ('{"feed": 1, "sequence": 1}', "feed must be strings"),
    ('{"root": "%x", "previous": []}', "root and tangle must be strings"),
    ('{"feed": "@x"}', "no statement; the line must have one of sequence, id"),
    ('{"feed": "@x", "sequence": true}', "sequence must be a number"),
    ('{"feed": "\\ud800", "sequence": 1}', "a key has a lone surrogate, which is not Unicode"),
    ('{"set": "s", "items": [1]}', "items must be a list of strings"),
    ('{"message": "%x", "valid": 1}', "valid must be true or false"),
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    warehouse = story.write(tmp_path_factory.mktemp("check") / "wh")
    warehouse.fill(
        "group_members",
        "feed_id is_added is_excluded is_missing added_by excluded_by",
        ("in", True, False, False, ["%a"], None),
        ("y", True, False, False, None, None),
        ("out", False, True, False, None, ["%x"]),
        ("lost", False, False, True, None, None),
        group_id="g",
        epoch_id="e",
    )
    epochs = [("e", True, True), ("f", False, False)]
    warehouse.fill("group_epochs", "epoch_id is_preferred is_tip", *epochs, group_id="g", preference="subset")
    warehouse.fill("sets", "set_id items", ("s", ["carol", "dan"]), ("open", []), item_roots=["r"])
    warehouse.fill("set_next", "set_id prev depth", ("s", ["m2", "m4"], 3), ("open", ["root"], 1))
    warehouse.fill("set_items", "item", ("carol",), ("dan",), set_id="s", added_by="m1")
    warehouse.write("set_next_items", {"set_id": "s", "item": "gone"})
    warehouse.fill(
        "set_messages",
        "set_id message_id is_valid is_held is_tip reject_reason awaited_ids",
        ("s", "m1", True, False, False, None, None),
        ("s", "m2", True, False, True, None, None),
        ("s", "m4", True, False, True, None, None),
        ("s", "m3", False, True, False, "no_known_prev", None),
        ("open", "u1", False, False, False, "unknown_account_tips", ["t1", "t2"]),
        ("open", "u2", False, False, False, "undecided_prev", None),
        ("open", "r1", False, False, False, "bad_depth", None),
    )
    warehouse.fill("autobase_bases", "base_id", ("b",), ("done",), node_count=2, confirmed_length=1)
    views = [("b", "n0", 0, True), ("b", "n1", 1, False), ("done", "n0", 0, True)]
    warehouse.fill("autobase_views", "base_id node_id position is_confirmed", *views, observer="all")
    warehouse.write("autobase_unsettled", {"base_id": "b", "node_id": "n1", "reason": "contender", "contender": "n7"})
    warehouse.write("autobase_rejects", {"base_id": "b", "node_id": "n9", "reason": "hole"})
    events = ({"timeline_id": "t", "event_id": f"e{n}", "position": n, "rank": 3 + n} for n in range(3))
    warehouse.write("timeline_events", *events, files=2)
    return warehouse.write("timeline_rejects", {"timeline_id": "t", "event_id": "e9", "reason": "cycle"})


@pytest.fixture
def check(warehouse, tmp_path):
    """Run the command on statements, as text and as data."""

    def run(*lines: str | dict):
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / "answers.jsonl").write_text(text, encoding="latin-1")
        words = ("check", str(tmp_path / "answers.jsonl"))
        result, data = warehouse.ask(*words), warehouse.ask(*words, "--json")
        assert result.exit_code == data.exit_code
        return result.exit_code, result.stdout + result.stderr, data.stdout and json.loads(data.stdout)

    return run


def test_a_peer_that_agrees(check):
    code, text, _ = check(*AGREE, "")
    assert (code, text.splitlines()[0]) == (0, f"{len(AGREE)} agree, 0 differ, 0 unknown, 0 unreadable")


@pytest.mark.parametrize("first", range(0, len(DIFFER), 20))
def test_a_peer_that_differs(check, first):
    """The text shows 20 lines, the data all of them."""
    differ = DIFFER[first : first + 20]
    code, text, data = check(*AGREE, *(line for line, _, _ in differ))
    assert code == 1 and f"{len(AGREE)} agree, {len(differ)} differ" in text
    assert [line["because"] for line in data["lines"]] == [because for _, _, because in differ]
    for number, (_, said, because) in enumerate(differ, len(AGREE) + 1):
        shown = f"\n{text}".partition(f"\nline {number}: ")[2].partition("\nline ")[0]
        assert said in shown and all(f"    {each}" in shown for each in because)


def test_many_lines(check, monkeypatch):
    monkeypatch.setattr(peer_answers, "AT_ONCE", 7)
    code, text, data = check(*AGREE * 5, *[{**FEED, "sequence": 9}] * 300)
    assert code == 1 and f"{5 * len(AGREE)} agree, 300 differ" in text and "… and 280 more" in text
    assert sum(line["because"] is None for line in data["lines"]) == 100


def test_subjects_outside_the_tables_are_unknown(check):
    code, text, _ = check({"feed": "@nobody", "sequence": 1}, {"root": ROOT, "tangle": "x", "members": 1})
    assert code == 1 and "0 agree, 0 differ, 2 unknown" in text


def test_lines_that_cannot_be_read(check):
    code, text, _ = check(AGREE[0], *(line for line, _ in UNREADABLE))
    assert code == 2 and f"1 agree, 0 differ, 0 unknown, {len(UNREADABLE)} unreadable" in text
    for number, (_, said) in enumerate(UNREADABLE, 2):
        assert f"line {number}: cannot be read: {said}" in text


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_statement_fails(check, text):
    code, text, data = check(text)
    assert code == 2 and "has no statement" in text and not data


class Counted(str):
    """A string that counts its calls of `__hash__`."""

    hashed = 0

    def __hash__(self) -> int:
        Counted.hashed += 1
        return super().__hash__()


def test_lists_are_compared_in_linear_time():
    for count in (1_000, 2_000):
        peer, ours = ([Counted(f"{who} {n}") for n in range(count)] for who in ("peer", "ours"))
        Counted.hashed = 0
        assert peer_answers.only_in_one(peer, ours) == (peer, ours) and Counted.hashed == 4 * count
