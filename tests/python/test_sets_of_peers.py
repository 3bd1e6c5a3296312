"""Logs of sets through dbt: compared with other implementations, for real ids and for ids that are not hashes."""

import json
from collections import Counter

import pytest

from pzp_kit import cases, line_of, reason_of
from set_builds import MAX, SELECTED, Built, says
from set_cases import NAMES

REAL, VALIDATE = cases("real"), cases("validate")
# The span of some cases; `tests/python/sets` has the others, and recorded cases with made-up ids.
REAL_SPAN = 2


def checks_of(case):
    """Return the checks of a case, except those that depend on messages of an account outside the log."""
    return [each for each in case["checks"] if each["label"] != "unauthorised key"]


@pytest.fixture(scope="module")
def peers(project):
    """Build all logs of real peers, with the messages that they checked after each tangle."""
    logs = [*(case["log"] for case in REAL), *(case["localTangle"] for case in VALIDATE)]
    lines = [line_of(entry["msg"], id=entry["id"]) for log in logs for entry in log]
    first_check = len(lines) + 1
    lines += [line_of(each["msg"]) for case in VALIDATE for each in checks_of(case)]
    built = project("sets_of_peers", set_ghost_span=REAL_SPAN).given(pzp_log=lines)
    return Built(built.build(*SELECTED)), first_check


def compare(built, case):
    """Compare a set with a case; return the names of equal and of different answers."""
    theirs, ours = case["expected"], built.sets[case["mootID"]]
    assert built.order(case["mootID"]) == theirs["order"]
    # A peer that fails leaves out the item roots.
    answered = {name for name in NAMES if theirs.get(name, "error") != "error"}
    agreed = {name for name in answered if ours[NAMES[name]] == theirs[name]}
    return agreed | {"order"}, answered - agreed


def test_sets_of_real_peers(peers):
    """The set and its required depths equal the peer's answers; answers that are errors are passed over."""
    built, _ = peers
    agreed = Counter()
    for case in REAL:
        same, other = compare(built, case)
        assert other <= ({"minGhostDepth"} if case["ghostSpan"] != REAL_SPAN else set()), case["case"]
        agreed.update(same if case["ghostSpan"] == REAL_SPAN else same - {"minGhostDepth"})
        members = built.members[case["mootID"]]
        assert members.keys() == set(case["expected"]["order"])
        assert all(row["is_valid"] or row["is_held"] for row in members.values())
        agreed["held"] += sum(row["is_held"] for row in members.values())
        agreed["unread"] += sum(row["reject_reason"] == "bad_set_data" for row in members.values())
        agreed["errors"] += case["expected"]["minRequiredDepth"] == "error"
        if case["ghostSpan"] == REAL_SPAN and "purpose" in case["expected"]:
            assert {name: row["purpose"] for name, row in members.items()} == case["expected"]["purpose"]
            agreed["purpose"] += 1
    assert agreed == {
        **dict.fromkeys(("order", "tips", "maxDepth", "values", "squeezePotential"), 80),
        **dict.fromkeys(("supersedeRoots", "minRequiredDepth"), 75),
        **dict.fromkeys(("minGhostDepth", "purpose"), 16),
        **{"errors": 5, "held": 18, "unread": 15},
    }


def test_keys_of_real_peers(peers):
    """Each device's key is the account's if the log has the account; all real messages are accepted."""
    built, first_check = peers
    ids = {entry["id"] for case in REAL for entry in case["log"]}
    assert all(built.messages[one]["is_usable"] and built.messages[one]["is_id_consistent"] for one in ids)
    in_feeds = [built.messages[one] for one in ids]
    in_feeds = [row for row in in_feeds if row["account"] != "self" and not row["is_moot"]]
    assert Counter(row["is_key_authorised"] for row in in_feeds) == {True: 557}
    assert min(row["line"] for row in built.project.rows("pzp_rejects")) >= first_check


def test_every_check(peers):
    """The verdict and reason of each message are the peer's."""
    built, first_check = peers
    line = first_check
    rejects = {row["line"]: row for row in built.project.rows("pzp_rejects")}
    agreed = Counter()
    for case in VALIDATE:
        members = built.members[case["mootID"]]
        local = [members[entry["id"]] for entry in case["localTangle"]]
        assert all(row["is_valid"] or row["is_held"] for row in local)
        agreed["held"] += sum(row["is_held"] for row in local)
        for each in checks_of(case):
            message = built.messages[each["id"]]
            if line in rejects and message["is_usable"]:  # because of another line
                reason = rejects[line]["reason"]
                assert rejects[line]["message_id"] == each["id"]
                agreed["only the line"] += 1
            else:
                reason = members.get(each["id"], message)["reject_reason"]
            assert reason == (None if each["valid"] else reason_of(each["error"])), (case["case"], each["label"])
            agreed["valid" if each["valid"] else "refused"] += 1
            line += 1
    assert agreed == {"valid": 195, "refused": 525, "only the line": 80, "held": 11}
    assert line == first_check + 720


@pytest.fixture(scope="module")
def trusted(project):
    """Build a set with ids that are not hashes."""
    built = project("trusted_sets", verify_signatures=False).given(pzp_log=claimed_lines())
    return Built(built.build(*SELECTED))


CLAIMED = "claimed/"


def claimed_lines():
    """Write a set of messages with claimed ids, which are impossible where ids are hashes."""
    R, A, B, C, D, E, F, G = (CLAIMED + name for name in "RABCDEFG")
    blank = {"dataHash": "?", "dataSize": 1, "accountTips": None, "domain": "set_v1__claimed"}

    def claim(name, entry, data, root=R, account="a", **fields):
        metadata = blank | {"account": account, "tangles": {root: entry}} | fields
        return json.dumps({"id": name, "msg": {"data": data, "metadata": metadata}}).encode()

    def moot(account):
        return claim(R, None, None, account=account, dataHash=None, dataSize=0, tangles={})

    def place(depth, *prev):
        return {"depth": depth, "prev": list(prev)}

    huge = CLAIMED + "x" * 500_000
    infinite = claim(A, place(1, A, R), says(["x", "\ud800", "\udfff", "+", "-"], [], [A, B, R]))
    return [
        # One of two messages with the same id counts, independent of their order.
        *(moot("b"), moot("a"), claim(A, place(1, R), says(["b"]), account="b")),
        # At equal depth the greater id is later; superseding itself or a later message is ignored.
        infinite.replace(b'"+"', b"1e999").replace(b'"-"', b"-1e999"),
        claim(B, place(1, B, R), says(["y", "\ud800"], [], [A, B, "\ud800", None])),
        # Two messages follow each other; one follows a later one; depths at the limits of the valid range and beyond.
        *(claim(C, place(5, D), says(["c"])), claim(D, place(5, C), says([], ["c"]))),
        *(claim(E, place(2, F, 7, None, {}, "\ud800"), says()), claim(F, place(MAX, E), says([], [], [E, F]))),
        *(claim(G, place(depth, R), says(["g"])) for depth in (0, -1, MAX + 1, 1.5, "1", True, None)),
        # Odd ids: with a lone surrogate, very long, empty, NUL, a number.
        claim(CLAIMED + "\ud800", place(3, CLAIMED + "\udfff"), says(["s"])),
        *(claim(huge, place(4, huge), says([huge])), claim("", place(4, "", "\0"), says([""]))),
        *(claim("\0", place(4, ""), says(["\0"])), claim(7, place(4, R), says(["no id"]))),
        # Six messages have one id: the least of those with data counts.
        *(claim(CLAIMED + "twice", place(6, R), data) for data in ("text", None, "")),
        *(claim(CLAIMED + "twice", place(6, R), says([f"v{number}"])) for number in (2, 0, 1)),
        # A set to which a message can be added.
        claim("plain", None, None, account="c", dataHash=None, dataSize=0, tangles={}),
        claim("plain/A", place(1, "plain"), says(["p"]), root="plain", account="c"),
        # Roots that are a member of the set, the message itself, and empty.
        *(claim(CLAIMED + "in A", place(1, A), says(["q"]), root=A), claim("self", place(1), says(), root="self")),
        claim("in \ud800", place(1), says(), root="\udc00"),
    ]


def test_claimed_ids(trusted):
    """All readable messages are in the set, by their declared depth; links and names stay within their set."""
    R, A, B, C, D, E, F, G = (CLAIMED + name for name in "RABCDEFG")
    huge, replaced, twice = CLAIMED + "x" * 500_000, CLAIMED + "\ufffd", CLAIMED + "twice"
    order, members, row = trusted.order(R), trusted.members[R], trusted.sets[R]
    [computed] = {*order} - {R, A, B, C, D, E, F, huge, replaced, twice, "", "\0"}
    assert (order[:5], {*order[5:9]}, order[9:]) == (
        [R, A, B, E, replaced],
        {"", "\0", computed, huge},
        [C, D, twice, F],
    )
    assert {*members} == {*order, G}
    assert (members[G]["reject_reason"], trusted.messages[G]["line_count"]) == ("bad_depth", 7)
    assert (row["account"], row["root_status"], row["message_count"], row["max_depth"]) == ("a", "present", 13, MAX)
    # Items with different surrogates are different.
    assert row["items"][:7] == ["x", '"\\ud800"', '"\\udfff"', "1e999", "-1e999", "y", "s"]
    assert ({*row["items"][7:11]}, row["items"][11:]) == ({"", "\0", "no id", huge}, ["v0"])
    assert {*row["item_roots"]} == {*order} - {R, A, E}
    # The others are listed by each other, by shallower messages or by themselves.
    assert row["tips"] == [computed, twice]
    assert (trusted.messages[A]["account"], trusted.messages[A]["line_count"]) == ("a", 2)
    for root, message, status in ((A, CLAIMED + "in A", "unusable"), ("\ufffd", "in \ufffd", "missing")):
        assert (trusted.sets[root]["root_status"], trusted.sets[root]["items"]) == (status, [])
        assert not trusted.members[root][message]["is_valid"]
    assert "self" not in trusted.members
