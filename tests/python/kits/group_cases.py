"""Reads recorded cases of ssb-tribes2 as rows for `reduce_groups`."""

import gzip
import json
from pathlib import Path

import pyarrow as pa

from dbt_tangles.algorithms.graph.walk import WALK_INPUT_SCHEMA, walk_graphs
from dbt_tangles.formats.ssb.claims import tangle_claims
from dbt_tangles.formats.ssb.group_claims import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT, epoch_key, group_claim
from dbt_tangles.formats.ssb.ids import normalise

DATA = Path(__file__).parents[2] / "data" / "groups"


def cases(name: str) -> list[dict]:
    """Read a file of vectors."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rows_of(case: dict) -> list[dict]:
    """Return the valid messages of a case's log, in order of arrival."""
    contents = [(normalise(m["key"]), m["value"]["content"]) for m in case["messages"]]
    connected = _connected(contents)
    rows, group_of = [], {}
    for message_id, content in contents:
        message = group_claim(content)
        if message is None or message.invalid_reason is not None:
            continue
        row = {"message_id": message_id, "kind": message.kind}
        if message.kind in (ROOT_INIT, EPOCH_INIT):
            group_of[message_id] = message_id if message.kind == ROOT_INIT else message.epoch_root
            row |= {"epoch_id": message_id, "previous_epochs": message.previous_epochs}
            row["epoch_key"] = epoch_key(content)
        else:
            assert message.kind in (ADD, EXCLUDE)
            row |= {"epoch_id": message.epoch_id, "feeds": list(message.feeds)}
        row["is_connected"] = (row["epoch_id"], message_id) in connected
        rows.append(row)
    return [row | {"group_id": group_of.get(row["epoch_id"])} for row in rows]


def _connected(contents: list[tuple]) -> set[tuple[str, str]]:
    """Return the members of all members tangles, computed by the project: root and message."""
    rows = []
    for message_id, content in contents:
        for name, root, previous, is_root, claim_error in tangle_claims(content):
            if name == "members":
                row = dict.fromkeys(WALK_INPUT_SCHEMA.names)
                row |= {"graph_kind": name, "graph_id": message_id if is_root else root, "node_id": message_id}
                rows.append(row | {"previous": previous, "is_root": is_root, "claim_error": claim_error})
    depths = walk_graphs(pa.Table.from_pylist(rows, WALK_INPUT_SCHEMA))["depth"].to_pylist()
    return {(row["graph_id"], row["node_id"]) for row, depth in zip(rows, depths, strict=True) if depth is not None}
