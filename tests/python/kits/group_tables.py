"""Calls `reduce_groups` on rows for tests."""

import pyarrow as pa

from dbt_tangles.algorithms.private_group.members import LIMITS
from dbt_tangles.algorithms.private_group.reduction import reduce_groups

INPUT_SCHEMA, OUTPUT_SCHEMA = reduce_groups.reads, reduce_groups.writes
EPOCH_COLUMNS = OUTPUT_SCHEMA.names[1 : OUTPUT_SCHEMA.names.index("feed_id")]
MEMBER_COLUMNS = ["group_id", "epoch_id", *OUTPUT_SCHEMA.names[OUTPUT_SCHEMA.names.index("feed_id") :]]
DROPPED_COLUMNS = ["group_id", "epoch_id", "feed_id", "added_by", "excluded_by"]
COLUMNS = {"epoch": EPOCH_COLUMNS, "member": MEMBER_COLUMNS, "dropped": DROPPED_COLUMNS}


def init(epoch_id: str, previous: list | None = None, group_id: str = "g", key: int = 0, **values) -> dict:
    """Build an init; it is the root if its id is that of the group."""
    row = dict.fromkeys(INPUT_SCHEMA.names)
    row |= {"group_id": group_id, "epoch_id": epoch_id, "message_id": epoch_id, "previous_epochs": previous}
    row |= {"kind": "root_init" if epoch_id == group_id else "epoch_init", "epoch_key": key.to_bytes(32, "big")}
    return row | values


def add(message_id: str, epoch_id: str | None, feeds: list | None, group_id: str | None = "g", **values) -> dict:
    """Build a connected add."""
    row = dict.fromkeys(INPUT_SCHEMA.names)
    row |= {"group_id": group_id, "epoch_id": epoch_id, "message_id": message_id, "feeds": feeds}
    return row | {"kind": "add", "is_connected": True} | values


def exclude(message_id: str, epoch_id: str | None, feeds: list | None, group_id: str | None = "g", **values) -> dict:
    """Build a connected exclude."""
    return add(message_id, epoch_id, feeds, group_id, kind="exclude", **values)


def reduced(rows: list[dict], batch_rows: int = 50_000, **limits) -> tuple[dict, dict, dict]:
    """Reduce rows in batches: return epochs by group and id, and members and dropped feeds by group, epoch and feed."""
    out = {"epoch": {}, "member": {}, "dropped": {}}
    batches = pa.Table.from_pylist(rows, INPUT_SCHEMA).to_batches(batch_rows)
    for batch in reduce_groups(iter(batches), LIMITS._replace(**limits)):
        batch.validate(full=True)
        assert batch.schema == OUTPUT_SCHEMA
        for row in batch.to_pylist():
            kind = row.pop("row_kind")
            others = [name for name in row if name not in COLUMNS[kind]]
            assert all(row.pop(name) is None for name in others)
            key = tuple(row[name] for name in ("group_id", "epoch_id", "feed_id") if name in row)
            assert key not in out[kind]
            out[kind][key] = row
    return tuple(out.values())
