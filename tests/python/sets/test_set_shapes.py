"""`reduce_entries` on data that a set does not read: such a message is held with a reason, and changes no item."""

import pyarrow as pa
import pytest

from dbt_tangles.algorithms.set import INPUT_SCHEMA
from dbt_tangles.algorithms.set.set_batches import reduce_entries

ROOT, FIRST, LAST = ("1" * 43 + letter for letter in "RAB")
SHAPE = {"is_set_shape": True, "add": ["alice"], "del": [], "supersedes": []}
ERASED = {"has_data": False, "is_set_shape": False, "supersedes": []}
#: The data is there, and its add or del is no array, or supersedes is missing.
UNREAD = [{"is_set_shape": False, "supersedes": []}, {"is_set_shape": False, "supersedes": None}]


def rows_of(data: dict, domain: str, *, is_trusted: bool) -> dict[str, dict]:
    """Reduce a set of its root, a message with the given data, and a message that follows it."""
    same = {"set_id": ROOT, "account": "ann", "domain": domain, "has_data": True, "has_root": True}
    rows = [
        # Rows outside the set, change no other row.
        *({"set_id": ROOT, "message_id": f"{k}", "reject_reason": "bad_signature", "has_root": True} for k in range(3)),
        same | {"message_id": ROOT, "is_moot": True, "has_data": False},
        same | {"message_id": FIRST, "depth": 1, "prev": [ROOT]} | data,
        same | {"message_id": LAST, "depth": 2, "prev": [FIRST]} | SHAPE | {"add": ["bob"]},
    ]
    found = pa.Table.from_batches(reduce_entries(pa.Table.from_pylist(rows, INPUT_SCHEMA), 32, is_trusted)).to_pylist()
    assert [row["items"] for row in found[:3]] == [row["purpose"] for row in found[:3]] == [None] * 3
    return {row["message_id"]: row for row in found[3:]}


def verdict(row: dict) -> tuple:
    return row["is_valid"], row["is_held"], row["reject_reason"]


@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_root_that_is_no_moot(is_trusted):
    """Neither a log nor a replica has a set whose root is an ordinary message."""
    same = {"set_id": ROOT, "account": "ann", "domain": "set_v1__follows", "has_root": False} | SHAPE
    rows = [same | {"message_id": ROOT}, same | {"message_id": FIRST, "depth": 1, "prev": [ROOT]}]
    found = pa.Table.from_batches(reduce_entries(pa.Table.from_pylist(rows, INPUT_SCHEMA), 32, is_trusted))
    assert [verdict(row) for row in found.to_pylist()] == [(False, False, "not_a_feed")] * 2


@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize(
    ("data", "expected", "items"),
    [
        (SHAPE, (True, False, None), ["alice", "bob"]),
        (ERASED, (True, False, None), ["bob"]),
        *((data, (False, True, "bad_set_data"), ["bob"]) for data in UNREAD),
    ],
)
def test_data_of_a_set(data, expected, items, is_trusted):
    """The messages that follow an unread one stay valid, and the order of the set has it."""
    rows = rows_of(data, "set_v1__follows", is_trusted=is_trusted)
    assert verdict(rows[FIRST]) == expected
    assert verdict(rows[ROOT]) == verdict(rows[LAST]) == (True, False, None)
    assert [rows[id_]["position"] for id_ in (ROOT, FIRST, LAST)] == [0, 1, 2]
    placed = [item | {"by": id_} for id_, row in rows.items() for item in row["items"]]
    assert all(item["kept_by"] == [item["by"]] for item in placed)
    assert [item["item"] for item in sorted(placed, key=lambda item: item["item_position"])] == items
