"""Prints lines of Autobase logs, and returns the rows that the kernel makes of them."""

import json

from dbt_tangles.formats.autobase.verify_lines import OUTPUT_SCHEMA, Reason, verify_batches
from dbt_tangles.formats.json.framing import Framing
from dbt_tangles.ingest.line_checks import PLACE
from log_lines import verified

CODES = {reason.value for reason in (*Framing, *Reason)}
A, B, C, D = (digits * 32 for digits in ("0a", "b1", "c2", "ff"))
ODD_WRITERS = ["", "a", A[:-1], A + "0", A[:-1] + "g", f" {A[1:]}", f"{A[:-1]}\n", "é" * 64, "\u0665" * 64, "\0" * 64]
NODE = {"base": "b", "writer": A, "length": 3, "heads": [[C, 1], [B, 2]], "batch": 2, "value": {"z": 1, "a": [True]}}
BASE = {"base": "b", "indexers": [B, A], "relayed": [D, C], "start": {B: 4, A: 0}}
RESULT = [field.name for field in OUTPUT_SCHEMA][len(PLACE) :]
OF_BASE = ("indexers", "relayed", "start")
OF_NODE = ("heads", "batch", "value", "is_ack")
MAX = 2**31 - 1


def check(lines):
    """Verify lines with the kernel, and check the guarantees of the columns."""
    rows = verified(verify_batches, OUTPUT_SCHEMA, lines)
    for row in rows:
        keep_promises(row)
    return rows


def keep_promises(row):
    assert row["base_id"] != ""
    assert (row["reject_reason"] is None) == (row["detail"] is None)
    if row["reject_reason"] is not None:
        assert row["reject_reason"] in CODES
        assert {row[name] for name in OF_BASE + OF_NODE} == {None}
        return
    assert row["base_id"] is not None
    if row["kind"] == "base":
        assert {row[name] for name in ("writer", "length", *OF_NODE)} == {None}
        assert row["indexers"] == sorted(set(row["indexers"]))
        assert row["relayed"] == sorted(set(row["relayed"]) - set(row["indexers"]))
        listed = row["start"] or []
    else:
        assert row["kind"] == "node"
        assert {row[name] for name in OF_BASE} == {None}
        assert row["length"] >= 1 <= row["batch"]
        assert row["is_ack"] == (row["value"] is None)
        listed = row["heads"]
        assert all(head["length"] < row["length"] - 1 for head in listed if head["writer"] == row["writer"])
    writers = [entry["writer"] for entry in listed]
    assert writers == sorted(set(writers))


def to_line(document, **fields):
    """Print a document with changed fields, without the fields given as `...`."""
    return json.dumps({name: value for name, value in (document | fields).items() if value is not ...}).encode()


def row_of(line):
    """Return the row of a line; it does not depend on the other lines."""
    [row] = check([line])
    for other in (NODE, BASE):
        among_others = check([to_line(other, base="x"), line, to_line(other, base="y")])[1]
        assert among_others | {"line": 1} == row
    return {name: row[name] for name in RESULT}


def to_pairs(entries):
    return entries if entries is None else [(entry["writer"], entry["length"]) for entry in entries]


def random_nodes(chance, count):
    """Draw valid nodes of many shapes, and sometimes an invalid node."""
    lines = []
    for _ in range(count):
        length = chance.randrange(1, 9)
        heads = [[name, chance.randrange(1, 9)] for name in chance.sample([A, B, C, D], chance.randrange(4))]
        writer = chance.choice([A, B, C, D, D.upper()])
        heads = [head for head in heads if head[0] != writer.lower() or head[1] < length or chance.random() < 0.01]
        value = chance.choice([None, "x", [1.5], {"é": 1}])
        lines.append(to_line(NODE, writer=writer, length=length, heads=heads, value=value))
    return lines
