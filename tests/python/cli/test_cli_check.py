"""`tangles check`: statements of a peer compared with the tables."""

import json

import pytest

import cli_story as story
from cli_kit import Warehouse
from dbt_tangles.cli import peer_answers


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    member = {"group_id": "%g", "epoch_id": "%e", "is_excluded": False}
    warehouse.write(
        "group_members",
        {**member, "feed_id": "x", "is_added": True},
        {**member, "feed_id": "y", "is_added": True},
        {**member, "feed_id": "z", "is_added": False},
    )
    warehouse.write("group_epochs", {"group_id": "%g", "epoch_id": "%e", "is_preferred": True})
    warehouse.write(
        "sets", {"set_id": "s", "items": ["a", "b"], "item_roots": ["r"]}, {"set_id": "rootless", "items": []}
    )
    warehouse.write("set_next", {"set_id": "s", "depth": 3, "prev": ["m", "n"]})
    warehouse.write("autobase_bases", {"base_id": "b", "node_count": 3, "confirmed_length": 2})
    view = {"base_id": "b", "observer": "all"}
    nodes = ({**view, "node_id": f"n{n}", "position": 2 - n, "is_confirmed": n == 2} for n in range(3))
    warehouse.write("autobase_views", *nodes)
    event = {"timeline_id": "t"}
    warehouse.write(
        "timeline_events", *({**event, "event_id": f"e{n}", "position": n, "rank": n} for n in range(3)), files=2
    )
    return warehouse


GOOD = [
    {"message": story.A1, "valid": True},
    {"message": f"ssb:message/classic/{story.BAD[1:44]}", "valid": False},
    {"feed": story.ALICE, "sequence": 3, "id": story.A2},
    {"feed": story.BOB, "sequence": 2, "ts": 1},
    {"tangle": "thread", "root": story.ROOT, "previous": [story.A2], "members": 3},
    {"epoch": "%e", "members": ["y", "x"]},
    {"group": "%g", "preferred": "%e"},
    {"set": "s", "items": ["b", "a"], "prev": ["m", "n"], "depth": 3},
    {"set": "rootless", "items": [], "prev": []},
    {"base": "b", "length": 3, "confirmed": 2},
    {"view": "b", "observer": "all", "order": ["n2", "n1", "n0"]},
    {"timeline": "t", "order": ["e0", "e1", "e2"]},
    {"kind": "set", "set_id": "s", "items": ["b", "a"], "item_roots": ["r"]},
    {"kind": "base", "base_id": "b", "observer": "all", "order": ["n2", "n1", "n0"], "confirmed_length": 1},
    {"kind": "timeline", "timeline_id": "t", "order": ["e0", "e1", "e2"]},
]
TANGLE = {"kind": "tangle", "tangle_name": "thread", "root_id": story.ROOT}
WRONG = [
    ({"message": story.A1, "valid": False}, "valid: the peer says False, the tables say True"),
    ({"feed": story.ALICE, "sequence": 4}, "sequence: the peer says 4, the tables say 3"),
    ({"tangle": "thread", "root": story.ROOT, "previous": []}, f"previous: only the tables have {story.A2}"),
    ({"epoch": "%e", "members": ["x", "q"]}, "members: only the peer has q; only the tables have y"),
    ({"set": "s", "prev": ["n", "m"]}, "prev: at place 0 the peer has n, the tables have m"),
    ({"set": "s", "items": ["a", "b", "b"]}, "items: the peer has 3 entries, the tables have 2"),
    ({"timeline": "t", "order": ["e0"]}, "order: only the tables have e1, e2"),
    ({"timeline": "t", "order": [f"p{n}" for n in range(2000)]}, "only the peer has p0, p1, p2 and 1,997 more"),
    ({"kind": "set", "set_id": "s", "item_roots": []}, "item_roots: only the tables have r"),
    ({"kind": "timeline", "timeline_id": "t", "order": ["e0", "e2", "e1"]}, "order: at place 1 the peer has e2"),
    ({**TANGLE, "tips": ["%x"]}, f"tips: only the peer has %x; only the tables have {story.A2}"),
    ({**TANGLE, "members": [story.A2]}, "members: only the tables have"),
]
UNREADABLE = [
    ("{", "not JSON"),
    ("[" * 100_000, "not JSON"),
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


def check(warehouse: Warehouse, *lines: str | dict):
    file = warehouse.root / "answers.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text(text + "\n")
    return warehouse.ask("check", str(file))


def test_a_peer_that_agrees(warehouse):
    result = check(warehouse, *GOOD, "")
    assert result.exit_code == 0
    assert result.stdout == f"{len(GOOD)} agree, 0 differ, 0 unknown, 0 unreadable\n"


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_peer_that_differs(warehouse, line, said):
    result = check(warehouse, *GOOD, line)
    assert result.exit_code == 1 and said in result.stdout
    assert f"line {len(GOOD) + 1}: " in result.stdout and f"{len(GOOD)} agree, 1 differ" in result.stdout


def test_a_tangle_by_the_names_of_columns(warehouse):
    """Members and tips are compared in any order, `order` by position."""
    members = [story.ROOT, story.A1, story.A2]
    line = {**TANGLE, "members": members[::-1], "tips": [story.A2], "order": members}
    assert check(warehouse, line).exit_code == 0
    assert "order: at place" in check(warehouse, {**line, "order": members[::-1]}).stdout


def test_subjects_outside_the_tables_are_unknown(warehouse):
    result = check(warehouse, {"feed": "@nobody", "sequence": 1}, {"root": story.ROOT, "tangle": "x", "members": 1})
    assert result.exit_code == 1 and "0 agree, 0 differ, 2 unknown" in result.stdout


@pytest.mark.parametrize(("line", "said"), UNREADABLE)
def test_lines_that_cannot_be_read(warehouse, line, said):
    result = check(warehouse, GOOD[0], line)
    assert result.exit_code == 2 and f"line 2: cannot be read: {said}" in result.stdout


def test_many_lines(warehouse, monkeypatch):
    monkeypatch.setattr(peer_answers, "AT_ONCE", 7)
    result = check(warehouse, *GOOD * 5, *[WRONG[0][0]] * 30)
    assert f"{5 * len(GOOD)} agree, 30 differ" in result.stdout and "… and 10 more" in result.stdout


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_statement_fails(warehouse, tmp_path, text):
    (tmp_path / "answers.jsonl").write_text(text)
    result = warehouse.ask("check", str(tmp_path / "answers.jsonl"))
    assert result.exit_code == 2 and "has no statement" in result.stderr and result.stdout == ""
    assert warehouse.ask("check", str(tmp_path / "none")).exit_code == 2


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


def test_bytes_that_are_not_unicode(warehouse):
    (warehouse.root / "bytes.jsonl").write_bytes(b'\xff\xfe{"feed"\n')
    result = warehouse.ask("check", str(warehouse.root / "bytes.jsonl"), "--json")
    assert result.exit_code == 2 and json.loads(result.stdout)["lines"][0]["detail"] == "not JSON"
