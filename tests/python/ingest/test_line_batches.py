"""The Arrow kernels of Autobase and event logs: batches of any size, any slices, and other types."""

import json
import random
from types import ModuleType
from typing import NamedTuple

import pyarrow as pa
import pytest

from autobase_lines import BASE, NODE, random_nodes, to_line
from dbt_tangles.formats.autobase import verify_lines as autobase
from dbt_tangles.formats.events import verify_lines as events
from dbt_tangles.ingest.line_checks import INPUT_SCHEMA
from log_lines import batch_of


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
    """Print an event."""
    usual = {"timeline": "t", "event": f"e{number}", "after": ["x"] * (number % 5), "author": "x", "arrival": number}
    return json.dumps(usual | fields).encode()


@pytest.fixture(params=["autobase", "events"])
def log(request):
    """Return each format."""
    if request.param == "autobase":
        lines = random_nodes(random.Random(1), 700)
        lines[100] = to_line(BASE)
        found = Format(autobase, lines, to_line(NODE, value=["x" * 500_000, "y" * 500_000]))
    else:
        found = Format(events, [event(number) for number in range(700)], event(after=["x" * 500_000, "y" * 500_000]))
    found.lines[300] = b"{"
    found.lines[699] = None
    return found


def test_no_lines(log):
    assert log.check(batch_of([])) == []
    assert list(log.kernel.verify_batches(iter([]))) == []


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
