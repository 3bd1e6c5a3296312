"""What the checks of all formats share: lines that hold no object, long lines, batches of any size, other types."""

import json
import random
from functools import partial
from types import ModuleType
from typing import NamedTuple

import pyarrow as pa
import pytest

from autobase_lines import BASE, NODE, random_nodes, to_line
from dbt_tangles.formats.autobase import verify_lines as autobase
from dbt_tangles.formats.events import verify_lines as events
from dbt_tangles.formats.pzp import verify_lines as pzp
from dbt_tangles.formats.ssb import verify_lines as ssb
from dbt_tangles.ingest.line_checks import INPUT_SCHEMA
from log_lines import batch_of, verified

#: By format: the module, and reason and detail of another value than an object, and of an object without fields.
FORMATS = {
    "autobase": (autobase, ("not_an_object", "not a JSON object"), ("no_base", "no base")),
    "events": (events, ("malformed", "not a JSON object"), ("malformed", "no timeline")),
    "pzp": (pzp, ("not_a_message", None), ("not_a_message", None)),
    "ssb": (ssb, ("not_a_message", None), ("not_a_message", None)),
}
EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


def check(name, lines, lengths=None, **options):
    """Verify lines of a format; its column of reasons becomes `reject_reason`."""
    module, *_ = FORMATS[name]
    if hasattr(module, "VerifyOptions"):
        options = {"options": module.VerifyOptions(**options)}
    rows = verified(partial(module.verify_batches, **options), module.OUTPUT_SCHEMA, lines, lengths)
    return [{"reject_reason" if key == "check_error" else key: value for key, value in row.items()} for row in rows]


def fault_of(name, reason, detail):
    """Return the columns of a fault; all faults of events have one reason."""
    return ("malformed" if name == "events" else reason), detail


BAD_JSON, BAD_TEXT, DEEP = "malformed_json", "invalid_utf8", 10_000
FAULTS = [
    *((line, BAD_JSON, "empty line") for line in (None, b"", b" \t\r")),
    (b"\0", BAD_JSON, "NUL bytes alone, of UTF-16 or of a hole in the file"),
    (b"\xef\xbb\xbf", BAD_JSON, "a byte order mark alone"),
    *(
        (line, BAD_JSON, "not JSON at column 1: ")
        for line in (b"\x0b", b"NaN", b"Infinity", b"\xef\xbb\xbf" * 2 + b"{}")
    ),
    *((line, BAD_JSON, "not JSON at column 2: ") for line in (b"{", b"01", b"{'timeline':'t'}")),
    (rb'"\ud800', BAD_JSON, "not JSON at column 3: "),
    (b'{"base":"b",}', BAD_JSON, "not JSON at column 13: "),
    (b"[" * DEEP, BAD_JSON, "not JSON at column 10001: "),
    (b'{"a":' * DEEP + b"x" + b"}" * DEEP, BAD_JSON, "not JSON at column 50001: "),
    *((line, BAD_TEXT, "not UTF-8 at byte 2") for line in (b'"\xff"', b'"\xed\xa0\x80"')),
    (b"\xff\xfe", BAD_TEXT, "not UTF-8 at byte 1"),
    (b"\xff\xfe{\0}\0", "utf16", "text in UTF-16: convert the file to UTF-8"),
    (b"{}{}", "several_messages", "more than one JSON object: the second begins at character 3"),
    (b'[{"a":' * DEEP + b"1" + b"}]" * DEEP, "json_array", "a JSON array of 1 values"),
]
NO_OBJECTS = [
    *(b"null", b"[]", b"7", b"9" * DEEP, b"1e400", b'"timeline"', rb'"\ud800"'),
    *(b'["base","writer","length","heads"]', b'["timeline","event","after","arrival"]'),
    *(b"[" * depth + b"]" * depth for depth in (1_000, DEEP)),
]
NO_FIELDS = [b"{}", b"\xef\xbb\xbf{}", rb'{"\ud800":1e999}', b'{"a":' * DEEP + b"1" + b"}" * DEEP]


@EVERY_FORMAT
def test_lines_that_hold_nothing(name):
    """Such a row has a reason, and else equals that of an empty line, alone and among others."""
    _, no_object, no_fields = FORMATS[name]
    expected = [(line, fault_of(name, *fault)) for line, *fault in FAULTS]
    expected += [(line, no_object) for line in NO_OBJECTS] + [(line, no_fields) for line in NO_FIELDS]
    [empty] = check(name, [b""])
    rows = check(name, [line for line, _ in expected])
    for row, (line, (reason, detail)) in zip(rows, expected, strict=True):
        [alone] = check(name, [line])
        assert row == alone | {"line": row["line"]}
        assert row["reject_reason"] == reason and (row["detail"] or "").startswith(detail or ""), line
        assert (row["detail"] is None) == (detail is None)
        told = {"line", "reject_reason", "reject_rank", "detail"}
        assert {key: row[key] for key in row.keys() - told} == {key: empty[key] for key in empty.keys() - told}


@EVERY_FORMAT
def test_long_lines_are_not_read(name):
    line, (*_, no_fields) = b"{}".ljust(32), FORMATS[name]
    for lines, lengths in (([line], None), ([line], [None]), ([line], [32])):
        [row] = check(name, lines, lengths, max_line_bytes=32)
        assert (row["reject_reason"], row["detail"]) == no_fields
    longer = line + b" "
    for cut, length in ((longer, 33), (line, 33), (b"", 33), (None, 33), (longer, None), (b"\xff", 33), (line, 2**40)):
        [row] = check(name, [cut], [length], max_line_bytes=32)
        assert (row["reject_reason"], row["detail"]) == fault_of(name, "too_long", "line longer than 32 bytes")
    [row] = check(name, [line], [2**21 + 1])
    assert (row["reject_reason"], row["detail"]) == fault_of(name, "too_long", "line longer than 2097152 bytes")


@EVERY_FORMAT
def test_no_lines(name):
    assert check(name, []) == []
    module, *_ = FORMATS[name]
    options = [module.VerifyOptions()] if hasattr(module, "VerifyOptions") else []
    assert list(module.verify_batches(iter([]), *options)) == []


class Format(NamedTuple):
    """A kernel, 700 lines of which two are rejected, and a valid line of a megabyte."""

    kernel: ModuleType
    lines: list
    large: bytes

    def check(self, batch):
        """Verify a batch; return its rows."""
        table = pa.Table.from_batches(self.kernel.verify_batches(iter([batch])), self.kernel.OUTPUT_SCHEMA)
        table.validate(full=True)
        return table.to_pylist()


def event(number=0, **fields):
    usual = {"timeline": "t", "event": f"e{number}", "after": ["x"] * (number % 5), "author": "x", "arrival": number}
    return json.dumps(usual | fields).encode()


@pytest.fixture(params=["autobase", "events"])
def log(request):
    if request.param == "autobase":
        lines = random_nodes(random.Random(1), 700)
        lines[100] = to_line(BASE)
        found = Format(autobase, lines, to_line(NODE, value=["x" * 500_000, "y" * 500_000]))
    else:
        found = Format(events, [event(number) for number in range(700)], event(after=["x" * 500_000, "y" * 500_000]))
    found.lines[300] = b"{"
    found.lines[699] = None
    return found


def test_turns_keep_the_order(log, monkeypatch):
    whole = log.check(batch_of(log.lines))
    assert [row["line"] for row in whole] == list(range(1, 701))
    assert [row["detail"] for row in whole].count(None) >= 690 and whole[300]["detail"] and whole[699]["detail"]
    assert log.check(batch_of(log.lines).slice(80, 250)) == whole[80:330]
    monkeypatch.setattr(log.kernel, "_TURN_ROWS", 1)
    assert log.check(batch_of(log.lines)) == whole


def test_large_batch_is_read_in_small_turns(log):
    """A batch with more bytes than one turn may hold: the columns stay far below Arrow's offset limit."""
    batches = list(log.kernel.verify_batches(iter([batch_of([log.large] * 100)])))
    assert [batch.num_rows for batch in batches] == [32, 32, 32, 4]
    rows = pa.Table.from_batches(batches)
    assert rows["line"].to_pylist() == list(range(1, 101))
    assert rows["detail"].null_count == 100


def test_other_widths_of_integers_and_strings(log):
    batch = batch_of(log.lines[:1])
    kinds = [pa.large_string(), pa.int32(), pa.binary(), pa.int32()]
    columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
    narrow = pa.RecordBatch.from_arrays(columns, names=INPUT_SCHEMA.names)
    [result] = log.kernel.verify_batches(iter([narrow]))
    assert result.schema == log.kernel.OUTPUT_SCHEMA
    assert result.to_pylist() == log.check(batch)
