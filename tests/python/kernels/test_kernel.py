"""The contract of kernels: whole groups in, rows out, in any batches."""

import random
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.kernel_runtime import output, row_schema, rows_on_disk
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Nested, Texts
from dbt_tangles.kernel_runtime.row_schema import Int32, Int64


class Sale(NamedTuple):
    """A row of the input."""

    shop: str | None
    item: str
    price: Int32 | None
    is_old: bool | None


class Total(NamedTuple):
    """What a shop sold, as columns: `parts` has the price of each item, `texts` the item of each part, null at 3."""

    shop: str | None
    sold: Int64
    reason: str | None
    parts: list[Int32] | None


class Part(NamedTuple):
    """An entry of a list."""

    item: str
    others: list[str]


class Place(NamedTuple):
    """Columns that are appended to a sale."""

    place: Int32 | None
    reason: str | None
    parts: list[Part] | None


@kernel(keys=["shop"], reads=Sale, writes=Total)
def totals(table: pa.Table, factor: int = 1):
    """Sum up in one mapping for each shop."""
    shops = Texts(table["shop"])
    names = table["shop"].to_pylist()
    price = table["price"].fill_null(0).to_numpy()
    for shop in dict.fromkeys(names):
        rows = np.array([at for at, name in enumerate(names) if name == shop])
        row = np.full(1, -1 if shop is None else rows[0])
        is_null = np.ones(1, np.bool_) if price[rows].sum() < 0 else None
        parts = Nested(np.array([0, len(rows)]), np.ma.array(price[rows], mask=price[rows] == 3), is_null)
        yield {"shop": shops.at(row), "sold": price[rows].sum(keepdims=True) * factor, "parts": parts}


def total(sales: list[Sale], factor: int = 1) -> Total:
    prices = [sale.price or 0 for sale in sales]
    parts = None if sum(prices) < 0 else [price if price != 3 else None for price in prices]
    return Total(sales[0].shop, factor * sum(prices), None, parts)


@kernel(keys=["shop"], reads=Sale, writes=Total, order=["item"])
def totals_by_row(sales: list[Sale]):
    """Sum up in one named tuple for each shop; the parts are by item."""
    yield total(sales)


@kernel(
    keys=["shop"],
    reads=Sale,
    writes=Place,
    appends=True,
    too_large=lambda rows: {"reason": rows["item"], "place": None},
    context="is_old",
)
def places(table: pa.Table):
    """Number the rows, and list the items up to each, with the same list again."""
    n = len(table)
    counts = np.arange(n) % 4
    start = np.concatenate([[0], np.cumsum(counts)])
    entry = np.arange(start[-1]) - np.repeat(start[:-1], counts)
    inner = np.concatenate([[0], np.cumsum(entry)])
    items = Texts(table["item"])
    others = Nested(inner, items.at(np.arange(inner[-1]) - np.repeat(inner[:-1], entry)))
    return {
        "place": np.arange(n),
        "reason": "fine",
        "parts": Nested(start, {"item": items.at(entry), "others": others}, counts == 0),
    }


SALES = st.lists(
    st.builds(
        Sale,
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["", "x", "yy"]),
        st.sampled_from([None, 0, 1, 3, -9]),
        st.sampled_from([None, False, False, True]),
    ),
    max_size=12,
)


def batches_of(rows: list[Sale], piece: int, **types: pa.DataType) -> list[pa.RecordBatch]:
    table = pa.Table.from_pylist([row._asdict() for row in rows], totals.reads)
    for name, kind in types.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    return table.to_batches(piece)


def rows_of(batches) -> list[dict]:
    return [row for batch in batches for row in batch.to_pylist()]


@given(SALES, st.integers(1, 5), st.integers(0, 12), st.integers(1, 6), st.sampled_from([1, 4, 10**6]))
def test_groups_within_the_limit_are_summed(rows, piece, in_memory, limit, room):
    sales = {row.shop: [other for other in rows if other.shop == row.shop] for row in rows}
    sales = {shop: listed for shop, listed in sales.items() if len(listed) <= limit}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(output, "ROWS_PER_BATCH", room)
        batches = batches_of(rows, piece, item=pa.large_string(), price=pa.int64())
        options = {"group_limit": limit, "rows_in_memory": in_memory}
        made = list(totals(batches, factor=2, **options))
        by_item = rows_of(totals_by_row(iter(batches), **options))
    assert rows_of(made) == [total(listed, 2)._asdict() for listed in sales.values()]
    in_order = [sorted(sales[shop], key=lambda sale: sale.item) for shop in sorted(sales, key=lambda shop: shop or "c")]
    assert by_item == [total(listed)._asdict() for listed in in_order]
    assert all(batch.schema == totals.writes for batch in made)


@given(SALES, st.integers(1, 5), st.integers(0, 12), st.integers(1, 6), st.sampled_from([1, 4, 10**6]))
def test_columns_are_appended(rows, piece, in_memory, limit, room):
    """Rows of a group above the limit have their reason; context rows are in the table, and not in the result."""
    sizes = {row.shop: sum(not other.is_old and other.shop == row.shop for other in rows) for row in rows}
    within = [row for row in rows if sizes[row.shop] <= limit]
    expected = [
        row._asdict() | {"place": None, "reason": row.item, "parts": None}
        for row in rows
        if row not in within and not row.is_old
    ]
    for at, row in enumerate(within):
        items = [each.item for each in within]
        parts = [{"item": items[entry], "others": items[:entry]} for entry in range(at % 4)]
        if not row.is_old:
            expected.append(row._asdict() | {"place": at, "reason": "fine", "parts": parts or None})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(output, "ROWS_PER_BATCH", room)
        made = list(places(iter(batches_of(rows, piece)), group_limit=limit, rows_in_memory=in_memory))
    assert rows_of(made) == expected
    assert all(len(batch) > 0 and batch.schema.names == [*totals.reads.names, *places.writes.names] for batch in made)


def test_batches_are_bounded():
    """By rows with their list entries, and by the bytes of the longest text; a longer row is a batch of its own."""
    texts = Texts(pa.chunked_array([["x" * 2**20], ["y"]]))
    start = np.arange(0, 31, 3)
    schema = pa.schema([("text", pa.string()), ("list", pa.list_(pa.string()))])

    def sizes(rows: int, size: int) -> list[int]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(output, "ROWS_PER_BATCH", rows)
            patched.setattr(output, "MAX_BYTES", size)
            columns = {"text": texts.at(np.zeros(10, np.int64)), "list": Nested(start, texts.at(np.arange(30) % 2))}
            made = list(output.batches_of(columns, schema))
        whole = pa.Table.from_batches(made)
        assert whole["list"].combine_chunks().flatten().to_pylist() == ["x" * 2**20, "y"] * 15
        return [len(batch) for batch in made]

    assert sizes(100, 2**30) == [10]
    assert sizes(8, 2**30) == [2] * 5
    assert sizes(3, 2**30) == [1] * 10
    assert sizes(100, 12 * 2**20) == [3, 3, 3, 1]


def test_batches_of_python_rows_are_bounded(monkeypatch):
    """By rows and by bytes; a larger row ends its batch."""
    monkeypatch.setattr(row_schema, "ROWS_PER_BATCH", 4)
    monkeypatch.setattr(row_schema, "BYTES_PER_BATCH", 1000)
    rows = [Total("x" * size, 1, None, [3]) for size in (1, 1, 1, 1, 1, 2000, 500, 500, 1)]
    made = list(row_schema.batches_of_rows(Total, rows))
    assert list(map(len, made)) == [4, 2, 2, 1]
    assert [row["shop"] for row in rows_of(made)] == [row.shop for row in rows]


def test_optional_columns_may_be_absent():
    table = pa.table({"item": ["x", "y"], "more": [1, 2]})
    absent = dict.fromkeys(("shop", "price", "is_old"))
    assert rows_of(places(table)) == [
        absent | {"item": "x", "more": 1, "place": 0, "reason": "fine", "parts": None},
        absent | {"item": "y", "more": 2, "place": 1, "reason": "fine", "parts": [{"item": "x", "others": []}]},
    ]
    assert list(totals([])) == list(places([])) == list(totals(totals.reads.empty_table())) == []


@pytest.mark.parametrize(
    ("answer", "table", "message"),
    [
        ({}, pa.table({"item": ["x", None]}), "a item is null or absent: each Sale needs one"),
        ({}, pa.table({"price": [1]}), "a item is null or absent"),
        ({"prices": 1}, pa.table({"item": ["x"]}), "prices: no such column of the result, of place, reason, parts"),
        ({"place": np.arange(2)}, pa.table({"item": ["x"]}), "of 1 rows differ in length: {'place': 2}"),
    ],
)
def test_faults_are_named(answer, table, message):
    @kernel(keys=["shop"], reads=Sale, writes=Place, appends=True)
    def fails(table):
        return answer

    with pytest.raises(ValueError, match=message):
        list(fails(table))


def test_files_are_where_spark_keeps_its_own(monkeypatch, tmp_path):
    """In the first of its writable folders; without one, in the default temporary folder."""
    asked = []
    make = rows_on_disk.tempfile.TemporaryFile
    monkeypatch.setattr(
        rows_on_disk.tempfile, "TemporaryFile", lambda **where: asked.append(where["dir"]) or make(**where)
    )
    for folders, wanted in ((f"{tmp_path}/none,{tmp_path},{tmp_path}/other", str(tmp_path)), ("", None), (None, None)):
        monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
        if folders is not None:
            monkeypatch.setenv("SPARK_LOCAL_DIRS", folders)
        before = pa.total_allocated_bytes()
        rows = [Sale("a", str(number), number, None) for number in range(3000)]
        random.Random(1).shuffle(rows)
        table = rows_on_disk.hold_rows(iter(batches_of(rows, 100)), totals.reads, 50)
        assert table.to_pylist() == [row._asdict() for row in rows]
        assert pa.total_allocated_bytes() - before < 10_000  # The columns are in the file.
        assert asked == [wanted]
        asked.clear()
        assert not list(tmp_path.iterdir())  # The file is unnamed.


def test_a_full_disk_is_an_error(monkeypatch):
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(rows_on_disk.tempfile, "TemporaryFile", lambda **_: full)
        with pytest.raises(OSError, match="No space left on device"):
            rows_on_disk.hold_rows(batches_of([Sale("a", "x", 1, None)] * 3, 1), totals.reads, 1)
