"""The verification compared with the JS peers' verdict on every line of the logs."""

import pytest

from ssb_kit import check, read_expected, read_lines


@pytest.mark.parametrize(
    ("log", "expected", "count"),
    [
        ("small.jsonl", "", 300),
        ("medium.jsonl.gz", ".gz", 10_000),
        pytest.param("medium.jsonl.gz", ".gz", 100_434, marks=pytest.mark.long),
    ],
)
def test_usable_and_id_of_every_line(log, expected, count):
    """Usable is ssb-validate's verdict out of order; the id is the computed one, for unusable lines too."""
    lines = read_lines(log)
    said = read_expected(f"{log.split('.')[0]}.expect_messages.jsonl{expected}")
    assert len(lines) == len(said) == {"small.jsonl": 300, "medium.jsonl.gz": 100_434}[log]
    said = said[:count]
    rows = check(lines[:count])
    wrong = []
    for row, peer in zip(rows, said, strict=True):
        pairs = [
            (row["is_usable"], bool(peer.get("ooo"))),
            (row["message_id"], peer.get("id")),
            (row["claimed_id"] == row["message_id"], peer.get("id_ok", True)),
            (row["check_error"] != "malformed_json", peer["parse"]),
            (row["check_error"] not in ("malformed_json", "not_a_message"), peer.get("shape", False)),
        ]
        if row["is_usable"]:
            pairs += [(row["author"], peer["author"]), (row["sequence"], peer["seq"])]
        if row["is_signature_valid"] is not None:
            pairs.append((row["is_signature_valid"], peer["sig"]))
        if any(ours != theirs for ours, theirs in pairs):
            wrong.append((peer, pairs))
    assert not wrong, (len(wrong), wrong[:3])
    # The log holds each kind of damage.
    kinds = {"malformed_json", "not_a_message", "bad_order", "bad_content", "bad_type", "too_long", "bad_signature"}
    assert {row["check_error"] for row in rows} == {None, *kinds}
