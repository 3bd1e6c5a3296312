"""Validity of unsigned graphs: the kernel compared with the rules in plain Python."""

import random
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.set import INPUT_SCHEMA
from dbt_tangles.algorithms.set.validity import validity
from pzp_kit import RANKS

BLANK = {"account": "A", "domain": "D", "depth": None, "prev": None, "defect": None, "reject_reason": None}


def row_of(root, message, **fields):
    key = {"is_key_authorised": None, "awaited_ids": None}
    return BLANK | {"set_id": root, "message_id": message, "is_moot": root == message} | key | fields


def name_of(number):
    """Return a string with the form of an id."""
    return "abcdefghijkmnopqrstuvwxyzABCDEFGH"[number] * 40


def answers_of(rows):
    table = pa.Table.from_pylist(rows, INPUT_SCHEMA)
    return {
        (row["set_id"], row["message_id"]): tuple(answer.values())
        for row, answer in zip(rows, validity(table).to_pylist(), strict=True)
    }


def expected_of(rows):
    """Judge tangles without cycles by recursion: find all reasons and return the first."""
    answers = {}
    for root in {row["set_id"] for row in rows}:
        members = {row["message_id"]: row for row in rows if row["set_id"] == root}
        answers |= {(root, name): answer for name, answer in expected_in(root, members).items()}
    return answers


def expected_in(root, members):
    moot = members.get(root)
    if moot is None or not moot["is_moot"] or moot["reject_reason"]:
        moot = None

    @cache
    def judge(name):
        return decide(members[name], members, moot, judge, root)

    return {name: judge(name) for name in members}


def decide(row, members, moot, judge, root):
    if row["message_id"] == root and moot is not None:
        return (True, None, False)
    reasons = [row["reject_reason"]] if row["reject_reason"] else []
    if moot is None:
        is_other = root in members and not members[root]["is_moot"] and not members[root]["reject_reason"]
        reasons.append("not_a_feed" if is_other else "missing_root")
    else:
        reasons += ["other_domain"] * (row["domain"] != moot["domain"])
        reasons += ["other_account"] * (row["account"] != moot["account"])
    reasons += ["unauthorised_key"] * (row["is_key_authorised"] is False)
    reasons += ["account_self"] * (row["account"] == "self")
    early = [reason for reason in reasons if reason != "bad_signature"]
    if early:
        return (False, min(early, key=RANKS.get), False)
    known = []
    missing = undecided = False
    awaits = bool(row["awaited_ids"]) and not reasons
    for prev in row["prev"]:
        if prev not in members:
            missing = True
            continue
        is_valid, reason, is_held = judge(prev)
        undecided |= reason in ("unknown_account_tips", "undecided_prev")
        if is_valid or is_held:
            depth = members[prev]["depth"] or 0
            if depth >= row["depth"]:
                return (False, "prev_not_lower", False)
            known.append(depth)
    if row["defect"]:
        return (False, row["defect"], False)
    if not known and not awaits and (missing or not undecided):
        return (False, "no_known_prev", missing and not reasons)
    if not known and not missing and not undecided:
        return (False, "no_known_prev", False)
    if known and len(known) == len(row["prev"]) and row["depth"] != max(known) + 1:
        return (False, "depth_gap", False)
    reasons += ["unknown_account_tips"] * awaits + ["undecided_prev"] * (not known)
    return (False, reasons[0], False) if reasons else (True, None, False)


@st.composite
def logs(draw):
    rows = []
    for root in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 9))
        top = name_of(root)
        kind = draw(st.sampled_from(["moot"] * 8 + ["none", "other", "refused"]))
        if kind != "none":
            refused = "bad_sigkey" if kind == "refused" else None
            rows.append(row_of(top, top, is_moot=kind != "other", depth=None, reject_reason=refused))
        depths = {top: 0}
        for number in range(size):
            name = name_of(10 + number)
            prev = sorted(draw(st.sets(st.sampled_from([*depths, *depths, "Z" * 40]), min_size=1, max_size=3)))
            depth = max(depths.get(each, 0) for each in prev) + draw(st.sampled_from([1] * 6 + [0, 2]))
            fields = {
                "depth": max(depth, 1),
                "prev": prev,
                "defect": draw(st.sampled_from([None] * 9 + ["prev_not_string", "prev_unsorted"])),
                "reject_reason": draw(st.sampled_from([None] * 9 + ["bad_signature", "bad_data_size"])),
                "account": draw(st.sampled_from(["A"] * 9 + ["B", "self"])),
                "domain": draw(st.sampled_from(["D"] * 9 + ["E"])),
                "is_key_authorised": draw(st.sampled_from([None, True] * 5 + [False])),
            }
            if fields["is_key_authorised"] is None:
                fields["awaited_ids"] = draw(st.sampled_from([None, None, [], ["t"]]))
            rows.append(row_of(top, name, **fields))
            if draw(st.integers(0, 9)):  # the others are unknown to all
                depths[name] = max(depth, 1)
    return draw(st.permutations(rows)) if rows else [row_of(name_of(0), name_of(0))]


@given(logs())
def test_agrees_with_the_rules(rows):
    assert answers_of(rows) == expected_of(rows)


def test_cycles():
    """Impossible with hashes: messages on a cycle are rejected, and so are their descendants."""
    root = name_of(0)
    a, b, c, d, e, f = (name_of(n) for n in range(1, 7))
    rows = [
        row_of(root, root),
        row_of(root, a, depth=1, prev=[b]),
        row_of(root, b, depth=2, prev=[a]),
        row_of(root, c, depth=1, prev=[c, root]),
        row_of(root, d, depth=3, prev=[a, root]),
        row_of(root, e, depth=1, prev=[a]),
        row_of(root, f, depth=1, prev=[root]),
    ]
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        answers = {name: answer for (_, name), answer in answers_of(rows).items()}
        assert {answers[name] for name in (a, b, c, d, e)} == {(False, "cycle", False)}
        assert answers[f] == (True, None, False)


def test_only_strings_with_the_form_of_an_id_can_be_missing():
    root = name_of(0)
    rows = [
        row_of(root, root),
        *(row_of(root, name, depth=9, prev=[prev]) for name, prev in [("x", "Unknown1"), ("y", "Z" * 43)]),
    ]
    answers = answers_of(rows)
    assert answers[root, "x"] == (False, "no_known_prev", False)
    assert answers[root, "y"] == (False, "no_known_prev", True)


def test_long_chain():
    names = ["r", *map(str, range(1, 100_000))]
    rows = [row_of("r", "r")]
    rows += [row_of("r", names[depth], depth=depth, prev=[names[depth - 1]]) for depth in range(1, len(names))]
    random.Random(3).shuffle(rows)
    assert set(answers_of(rows).values()) == {(True, None, False)}


def test_empty():
    assert validity(INPUT_SCHEMA.empty_table()).num_rows == 0
    with pytest.raises(ValueError, match="message_id is null"):
        answers_of([row_of("r", None)])
