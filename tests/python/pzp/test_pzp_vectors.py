"""Results of the real packages."""

import random

import pytest

from dbt_tangles.columns.item_tokens import item_of
from pzp_kit import cases, check, judge, line_of, reason_of


def lines_of(log):
    return [line_of(entry["msg"], id=entry["id"]) for entry in log]


@pytest.mark.parametrize("case", cases("validate"), ids=lambda case: case["case"])
def test_validate(case):
    root = case["mootID"]
    log = lines_of(case["localTangle"])
    shuffle = random.Random(case["case"]).shuffle
    local = check(log)
    for row, entry in zip(local, case["localTangle"], strict=True):
        assert row["message_id"] == entry["id"] == row["claimed_id"]
    answers = judge(local, case["authorisedSigkeys"]).values()
    assert set(answers) <= {(True, None, False), (False, "no_known_prev", True)}
    ids = {entry["id"] for entry in case["localTangle"]}
    for each in case["checks"]:
        [checked] = check([line_of(each["msg"])])
        assert checked["message_id"] == each["id"]
        # An unusable line stays off the peer's log, so for an id that is already there only this line counts.
        lines = [line for line, row in zip(log, local, strict=True) if row["message_id"] != each["id"]]
        lines.append(line_of(each["msg"]))
        shuffle(lines)
        if each["id"] in ids and each["id"] == root:
            assert each["valid"] and checked["is_usable"]
            continue
        is_valid, reason, _ = judge(check(lines), case["authorisedSigkeys"]).get(
            (root, each["id"]), (checked["is_usable"], checked["reject_reason"], False)
        )
        assert is_valid is each["valid"], each["label"]
        assert reason == (None if each["valid"] else reason_of(each["error"])), each["label"]


@pytest.mark.parametrize("kind", ["worked_example", "synth"])
def test_trusted(kind):
    """Ids that are not hashes are used unchanged. The tangle adopts all messages that can be read."""
    for case in cases(kind):
        root = case["mootID"]
        rows = check(lines_of(case["log"]), verify_signatures=False)
        assert [row["message_id"] for row in rows] == [entry["id"] for entry in case["log"]]
        members = {row["message_id"] for row in rows if root in [tangle["root_id"] for tangle in row["tangles"]]}
        members |= {row["message_id"] for row in rows if row["is_moot"]}
        assert all(row["is_usable"] for row in rows)
        order = case["expected"]["order"]
        assert not order or members == set(order)
        assert replay(rows, order) == case["expected"]["values"]


def replay(rows, order):
    by_id = {row["message_id"]: row for row in rows}
    items = {}
    for row in map(by_id.__getitem__, order):
        if row["add"] is not None:
            for token in row["add"]:
                items.setdefault(token)
            for token in row["del"]:
                items.pop(token, None)
    return [item_of(token) for token in items]
