"""`reduce_sets` on rows, as the tests call it."""

from collections.abc import Iterable

import pyarrow as pa

from dbt_tangles.algorithms.set import INPUT_SCHEMA, reduce_sets
from set_oracle import DEFAULTS, NaiveSet


def row(message_id: str, **values) -> dict:
    """Build a message, valid and empty unless stated otherwise; `deleted` stands for `del`."""
    if "deleted" in values:
        values["del"] = values.pop("deleted")
    return DEFAULTS | {"message_id": message_id} | values


def moot(message_id: str = "root", **values) -> dict:
    """Build the root of a set."""
    return row(message_id, is_moot=True, has_data=False, is_set_shape=False, depth=0, **values)


def rows_by_place(messages: list[dict], set_id: str = "root") -> list[dict]:
    """Build a set of messages, the root first, that name each other by place; their ids sort in that order."""
    rows = [moot("m00000", set_id=set_id)]
    for x, message in enumerate(messages[1:], 1):
        names = {name: [f"m{p:05}" for p in message.get(name, [])] for name in ("prev", "supersedes")}
        has_data = message.get("is_entry", True)
        items = {"add": message.get("add", []), "del": message.get("del", [])} if has_data else {}
        shape = {"has_data": has_data, "is_set_shape": has_data, "depth": message["depth"], "set_id": set_id}
        rows.append(row(f"m{x:05}", **shape, **names, **items))
    return rows


def faults_of(rows: list[dict], answers: list[dict]) -> list[tuple[int, str, str, list[int]]]:
    """Return the writer faults of a set of `rows_by_place` as `faults_oracle` does, sorted."""
    return sorted_faults(
        (int(row["message_id"][1:]), fault["rule"], fault["item"], [int(left[1:]) for left in fault["left_out_ids"]])
        for row, answer in zip(rows, answers, strict=True)
        for fault in answer["writer_faults"]
    )


def sorted_faults(faults: Iterable[tuple]) -> list[tuple]:
    """Sort faults by message, rule and item."""
    return sorted(faults, key=lambda fault: (*fault[:2], fault[2] or ""))


def table_of(rows: list[dict]) -> pa.Table:
    """Build a table in several chunks."""
    half = len(rows) // 2
    return pa.concat_tables([pa.Table.from_pylist(part, INPUT_SCHEMA) for part in (rows[:half], rows[half:])])


def reduced(rows: list[dict], ghost_span: int = 32) -> dict[str, tuple[dict, dict, dict]]:
    """Return for each set its own row, its messages by id, and its items in order, each with its inserting message."""
    table = table_of(rows)
    found = reduce_sets(table, ghost_span)
    found.validate(full=True)
    by_set: dict[str, list[dict]] = {}
    for row, answer in zip(rows, found.to_pylist(), strict=True):
        by_set.setdefault(row["set_id"], []).append(row | answer)
    return {name: _answer(messages, ghost_span) for name, messages in by_set.items()}


def _answer(messages: list[dict], ghost_span: int) -> tuple[dict, dict, dict]:
    """Gather the rows of one set, as the tables `sets` and `set_items` do."""
    depth = {m["message_id"]: 0 if m["is_moot"] else m["depth"] for m in messages}
    ordered = sorted((m for m in messages if m["position"] is not None), key=lambda m: m["position"])
    placed = sorted((i["item_position"], i["item"], m["message_id"]) for m in ordered for i in m["items"])
    assert [place for place, _, _ in placed] == list(range(len(placed)))
    roots = [m["message_id"] for m in ordered if m["is_item_root"]]
    needed = min((depth[m] for m in roots), default=None) if any(m["is_moot"] for m in messages) else 0
    oldest = [depth[m["message_id"]] for m in messages if m["is_oldest_standing"]]
    assert len(oldest) <= 1
    summary = {
        "max_depth": max(depth.values()),
        "items": [item for _, item, _ in placed],
        "item_roots": roots,
        "min_required_depth": needed,
        "min_ghost_depth": None if needed is None else max(0, needed - ghost_span),
        "squeeze_potential": max(depth.values()) - oldest[0] if oldest else None,
        "tips": sorted(m["message_id"] for m in messages if m["is_tip"]),
    }
    names = ("position", "is_item_root", "is_item_root_by_document", "purpose", "is_tip")
    by_id = {m["message_id"]: {name: m[name] for name in names} for m in messages}
    return summary, by_id, {item: message for _, item, message in placed}


def expected(rows: list[dict], ghost_span: int = 32) -> dict[str, tuple[dict, dict, dict]]:
    """Return the expected result of `reduced`, each set taken alone."""
    by_set: dict[str, list[dict]] = {}
    for message in rows:
        by_set.setdefault(message["set_id"], []).append(message)
    naive = {name: NaiveSet(messages, ghost_span) for name, messages in by_set.items()}
    return {name: (one.summary(), one.messages(), one.items()) for name, one in naive.items()}
