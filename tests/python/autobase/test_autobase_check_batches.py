"""The Arrow kernel of Autobase logs: batches of any size, any slices, and other types."""

import random

import pyarrow as pa

from autobase_lines import (
    BASE,
    NODE,
    check,
    random_nodes,
    to_line,
)
from dbt_tangles.formats.autobase import verify_lines as kernel
from dbt_tangles.formats.autobase.verify_lines import OUTPUT_SCHEMA, verify_batches
from dbt_tangles.ingest import line_checks as lines_module
from dbt_tangles.ingest.line_checks import INPUT_SCHEMA
from log_lines import batch_of


def test_no_lines():
    assert check([]) == []
    assert list(verify_batches(iter([]))) == []


def test_turns_and_slices_keep_the_order(monkeypatch):
    """The rows do not depend on the slices of a batch."""
    lines = random_nodes(random.Random(1), 700)
    lines[100] = to_line(BASE)
    lines[300] = b"{"
    lines[699] = None
    whole = check(lines)
    monkeypatch.setattr(kernel, "_TURN_ROWS", 1)
    assert check(lines) == whole
    monkeypatch.setattr(lines_module, "SLICE_BYTES", 10_000)
    batches = list(verify_batches(iter([batch_of(lines)])))
    assert [batch.num_rows for batch in batches] == [32] * 21 + [28]
    assert check(lines) == whole
    part = batch_of(lines).slice(80, 250)
    assert pa.Table.from_batches(verify_batches(iter([part]))).to_pylist() == whole[80:330]


def test_large_batch_comes_back_in_slices():
    """A batch with more bytes than one slice may hold: the columns stay far below Arrow's offset limit."""
    line = to_line(NODE, value=["x" * 500_000, "y" * 500_000])
    batches = list(verify_batches(iter([batch_of([line] * 100)])))
    assert [batch.num_rows for batch in batches] == [32, 32, 32, 4]
    assert max(batch.nbytes for batch in batches) < 2**26
    rows = pa.Table.from_batches(batches)
    assert rows["row_id"].to_pylist() == list(range(100))
    assert rows["detail"].null_count == 100


def test_other_widths_of_integers_and_strings():
    """Spark may pass positions as narrower types."""
    batch = batch_of([to_line(NODE)])
    kinds = [pa.large_string(), pa.int32(), pa.int32(), pa.binary(), pa.int32()]
    columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
    narrow = pa.RecordBatch.from_arrays(columns, names=INPUT_SCHEMA.names)
    [result] = verify_batches(iter([narrow]))
    assert result.schema == OUTPUT_SCHEMA
    assert result.to_pylist() == check([to_line(NODE)])
