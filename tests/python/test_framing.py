"""Framing mistakes, which put several messages on one line: the four kernels name each mistake."""

import json

import pyarrow as pa
import pytest

from conftest import DATA
from dbt_tangles.formats.autobase import verify_lines as autobase
from dbt_tangles.formats.events import verify_lines as events
from dbt_tangles.formats.json.framing import framing_mistake
from dbt_tangles.formats.json.numbers import int32, int64, safe_integer, whole_number
from dbt_tangles.formats.pzp import verify_lines as pzp
from dbt_tangles.formats.ssb import verify_lines as ssb
from log_lines import batch_of

MOST = 2_000
KERNELS = {
    "ssb": lambda batches: ssb.verify_batches(batches, ssb.VerifyOptions(max_line_bytes=MOST)),
    "pzp": lambda batches: pzp.verify_batches(batches, pzp.VerifyOptions(max_line_bytes=MOST)),
    "autobase": lambda batches: autobase.verify_batches(batches, MOST),
    "events": lambda batches: events.verify_batches(batches, MOST),
}
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
KEYS = {"ssb": "key", "pzp": "id", "autobase": "base", "events": "timeline"}


def told(kernel: str, line: bytes) -> tuple[str, str]:
    """Return the reason and the detail of a line."""
    table = pa.Table.from_batches(KERNELS[kernel](iter([batch_of([line[:MOST]], [len(line)])])))
    [row] = table.to_pylist()
    return row["check_error" if kernel == "ssb" else "reject_reason"], row["detail"]


def frames(*objects: bytes) -> bytes:
    """Write a flumelog-offset log: length, data, length, offset of the end; each number has 32 bits."""
    log = b""
    for data in objects:
        length = len(data).to_bytes(4, "big")
        log += length + data + length
        log += (len(log) + 4).to_bytes(4, "big")
    return log


def mistakes(key: str, count: int) -> dict[str, tuple[bytes, str]]:
    """Write some objects with every mistake; return the lines by reason and variant."""
    objects = [json.dumps({key: f"é{number}", "x": "y" * 300}).encode() for number in range(count)]
    text = b"\n".join(objects).decode()
    return {
        "several_messages": b"".join(objects),
        "several_messages, by commas": b", ".join(objects),
        "several_messages, by NUL": b"\0".join(objects),
        "several_messages, the first cut off": objects[0][:200] + objects[1],
        "cr_line_ends": b"\r".join(objects) + b"\r",
        "json_array": b"[" + b",".join(objects) + b"]",
        "json_array, pretty": b"[ " + b", ".join(objects) + b" ]",
        "utf16": text.encode("utf-16").split(b"\n")[0],
        "utf16, big-endian": text.encode("utf-16-be").split(b"\n")[1],
        "utf16, a later line": text.encode("utf-16-le").split(b"\n")[-1],
        "binary_log": frames(*objects),
        "binary_log, from within": frames(*objects)[40:],
        "binary_log, gzip": b"\x1f\x8b\x08" + bytes(300),
        "binary_log, SQLite": b"SQLite format 3\0" + bytes(300),
    }


def test_a_binary_line_is_no_utf16():
    """The mark of UTF-16 alone may begin any binary line; advice to convert the file needs text in UTF-16."""
    assert framing_mistake(b"\xff\xfe" + bytes(range(40, 240))) is None
    assert (
        framing_mistake('{"text": "これは日本語の長い文章です。とても長いです。"}'.encode("utf-16"))[0].value == "utf16"
    )


@EVERY_KERNEL
@pytest.mark.parametrize("count", [2, 20])
@pytest.mark.parametrize("kind", mistakes("", 2))
def test_mistakes_are_named(kernel, count, kind):
    """The reason names the mistake of short lines, and of too long lines, of which only the beginning is examined."""
    line = mistakes(KEYS[kernel], count)[kind]
    reason, detail = told(kernel, line)
    assert reason == ("malformed" if kernel == "events" else kind.partition(",")[0])
    assert len(detail) > 20 and "é" not in detail


@EVERY_KERNEL
def test_detail_names_the_place(kernel):
    one = json.dumps({KEYS[kernel]: "é" * 10}, ensure_ascii=False)
    assert f"begins at character {len(one) + 1}" in told(kernel, (one + one).encode())[1]
    assert f"begins at character {len(one) + 2}" in told(kernel, f"{one}\r{one}\r".encode())[1]
    assert told(kernel, one[:-1].encode())[1] == f"not JSON at column {len(one)}: expecting ',' delimiter"
    assert told(kernel, f"{one}x".encode())[1] == f"not JSON at column {len(one) + 1}: extra data"
    assert told(kernel, b'{"\xc3\xa9\xff"}')[1] == "not UTF-8 at byte 5"
    assert told(kernel, b'{"NaN":\n NaN}')[1] == "not JSON at line 2, column 2: no number of JSON: NaN"
    assert told(kernel, b'  "key": {')[1].endswith("(ssb_log_format: pretty reads such SSB logs)")
    assert told(kernel, b"\xef\xbb\xbf")[1] == "a byte order mark alone"


@EVERY_KERNEL
@pytest.mark.parametrize(
    "part", ["[", "{", "]", "  },", "  ],", '  "after": [', '  "é",', "  1,", '{"a": [{}]},', "null,"]
)
def test_parts_of_printed_json_have_a_remedy(kernel, part):
    assert "jq -c '.[]'" in told(kernel, part.encode())[1]
    assert "jq" not in told(kernel, b"no log, at all")[1]


@EVERY_KERNEL
def test_a_byte_order_mark_before_a_line_is_taken_off(kernel):
    assert told(kernel, b"\xef\xbb\xbf{}") == told(kernel, b"{}")


@EVERY_KERNEL
@pytest.mark.parametrize(
    "line",
    [b"", b"\0", b"\0" * 5000, b"{", b'{"a":1}x', b'{"a":1}\0\0\0', b"\0\0\0\0{}", b"[1,", b"[[", b"1 2", b"x{}{}"],
)
def test_other_faults_are_not_framing_mistakes(kernel, line):
    assert framing_mistake(line) is None
    reason, detail = told(kernel, line)
    assert reason in ("malformed_json", "malformed", "too_long")
    assert detail.startswith(("not JSON at column ", "NUL bytes alone", "empty line", "line longer than 2000 bytes"))


def test_valid_lines_skip_the_framing_check(monkeypatch):

    def fail(_raw):
        raise AssertionError

    monkeypatch.setattr("dbt_tangles.formats.json.parse.framing_mistake", fail)
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().split(b"\n")
    good = [line for line in lines if line.startswith(b'{"key"') and line.endswith(b"}")]
    rows = pa.Table.from_batches(KERNELS["ssb"](iter([batch_of(good[:20])]))).to_pylist()
    assert any(row["is_usable"] for row in rows)


@pytest.mark.parametrize("text", ["1", "1.0", "1e0", "10e-1", "0.1e1"])
def test_whole_numbers_in_any_notation(text):
    """As in JavaScript, the value decides and not the notation; one rule holds for all four logs."""
    value = json.loads(text)
    assert whole_number(value, 1, 1) == int32(value) == int64(value) == safe_integer(value) == 1
    assert type(whole_number(value, 0, 9)) is int


@pytest.mark.parametrize("value", [1.5, "1", True, None, [1], {}, float("inf"), float("nan"), 2**63, -1e300])
def test_values_that_are_not_whole_numbers(value):
    assert int32(value) is int64(value) is safe_integer(value) is whole_number(value, -(2**62), 2**62) is None


WRITER = "ab" * 32
WHOLE = {
    "autobase": (
        {"base": "b", "writer": WRITER, "length": 2, "heads": [["cd" * 32, 3]], "batch": 1},
        ["length", "batch", "heads"],
    ),
    "events": ({"timeline": "t", "event": "e", "after": [], "arrival": 7}, ["arrival"]),
}


@pytest.mark.parametrize("kernel", WHOLE)
def test_number_notation_does_not_change_the_row(kernel):
    document, names = WHOLE[kernel]

    def row_of(line: dict) -> dict:
        [row] = pa.Table.from_batches(KERNELS[kernel](iter([batch_of([json.dumps(line).encode()])]))).to_pylist()
        return row

    whole = row_of(document)
    assert whole["reject_reason"] is None
    for name in names:
        value = document[name]
        other = [[writer, float(length)] for writer, length in value] if name == "heads" else float(value)
        assert row_of(document | {name: other}) == whole
        half = [[writer, length + 0.5] for writer, length in value] if name == "heads" else value + 0.5
        assert row_of(document | {name: half})["reject_reason"] is not None


def test_start_lengths_in_any_notation():
    line = {"base": "b", "indexers": [WRITER], "start": {WRITER: 4.0}}
    [row] = pa.Table.from_batches(KERNELS["autobase"](iter([batch_of([json.dumps(line).encode()])]))).to_pylist()
    assert row["start"] == [{"writer": WRITER, "length": 4}]
