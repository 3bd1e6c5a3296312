"""Counts of added, changed and removed rows, and the hashes of rows that they rest on."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_spark_python.incremental.counts import count_differing, row_hash

COLUMNS = "shop string, day int, amount bigint, notes array<string>, rates map<string, int>"


def row(shop, day, amount, notes=None, rates=None):
    return (shop, day, amount, notes, rates)


@pytest.mark.both
def test_rows_by_key(spark):
    """Null is a valid key; any column may differ; rows may occur several times."""

    def count(before, after, keys=("shop", "day"), columns=COLUMNS):
        frames = spark.createDataFrame(before, COLUMNS), spark.createDataFrame(after, columns)
        return tuple(count_differing(*frames, keys).values())

    first = [row("a", 1, 5), row("a", 2, 5, ["x"]), row(None, 1, 5), row("b", None, 7, None, {"x": 1})]
    assert count(first, first[::-1]) == (0, 0, 0)
    assert count([], first) == (4, 0, 0)
    assert count(first, []) == (0, 0, 4)
    assert count([], []) == (0, 0, 0)
    second = [row("a", 1, 6), row("a", 2, 5, ["y"]), row(None, 2, 5), row("b", None, 7, None, {"x": 2}), row("c", 1, 1)]
    assert count(first, second) == (2, 3, 1)
    assert count(first, second, keys=()) == (5, 0, 4)
    assert count(first, second, keys=("shop",)) == (1, 3, 0)
    assert count(first, [*first, first[0]]) == count([*first, first[0]], first) == (0, 0, 0)
    renamed = COLUMNS.replace("amount", "sum")
    assert count(first, first, columns=renamed) == (0, 4, 0)
    assert count(first, first, keys=("shop", "sum"), columns=renamed) == (0, 3, 0), "a key that the table lacked"
    names = count_differing(*[spark.createDataFrame(first, COLUMNS)] * 2, ["shop"])
    assert list(names) == ["rows_added", "rows_changed", "rows_removed"]


@pytest.mark.both
def test_columns_with_a_single_value(spark, tmp_path):
    """A table whose files tell that all rows have one value in a column. Sail cannot hash such columns alone."""

    def write(name, amount):
        pq.write_table(pa.table({"day": [1, 2, 3], "amount": [amount] * 3}), tmp_path / name)
        return spark.read.parquet(str(tmp_path / name))

    first, second = write("first.parquet", 5), write("second.parquet", 6)
    assert tuple(count_differing(first, first, ["day"]).values()) == (0, 0, 0)
    assert tuple(count_differing(first, second, ["day"]).values()) == (0, 3, 0)


def hashes(frame) -> list[int]:
    return frame.select(row_hash(frame, frame.columns).alias("hash")).toArrow()["hash"].to_pylist()


@pytest.mark.both
@pytest.mark.parametrize("kind", ["string", "bigint", "boolean", "double", "binary"])
def test_a_null_that_moves_to_another_column(spark, kind):
    """The same value in any one of three columns, in all of them and in none gives five hashes."""
    value = {"string": "a", "bigint": 1, "boolean": True, "double": 0.5, "binary": b"a"}[kind]
    rows = [(value, None, None), (None, value, None), (None, None, value), (value,) * 3, (None,) * 3]
    assert len({*hashes(spark.createDataFrame(rows, f"a {kind}, b {kind}, c {kind}"))}) == len(rows)


@pytest.mark.both
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", [None, "", "-", "1:", "1:-", ",", "-,-", "0:,0:", "\u00e9", "e\u0301", '"', "{}"]),
        ("bigint", [None, 0, -1, 1, 2**53, 2**53 + 1]),
        ("double", [None, 0.5, 0.5000000000000001, float("nan")]),
        ("binary", [None, b"", b"\xff", b"\xfe"]),
        ("array<string>", [None, [], [""], [None], ["a"], ["a", None], [None, "a"], ["a", "a"], ["a,a"], ["aa"]]),
        ("array<array<string>>", [None, [], [[]], [None], [["a"], ["b"]], [["a", "b"]], [[], ["a", "b"]]]),
        ("map<string, int>", [None, {}, {"x": 1}, {"x": 2}, {"y": 1}, {"x": 1, "y": 1}]),
        ("struct<a: string, b: string>", [None, (None, None), ("x", None), (None, "x"), ("x", "x"), ("", "x")]),
        (
            "array<struct<a: string, b: array<string>>>",
            [None, [], [(None, None)], [("x", [])], [("x", None)], [(None, ["x"])], [("x", ["x"]), ("x", [])]],
        ),
    ],
)
def test_every_difference_counts(spark, kind, values):
    """Each digit and byte, nulls and boundaries of lists within a value, beside null columns; and a column's name."""
    rows = [(value, n, other, None) for value in values for n in (None, 0, 1) for other in values]
    frame = spark.createDataFrame(rows, f"one {kind}, n int, other {kind}, empty {kind}")
    found = {*hashes(frame)}
    assert len(found) == len(rows)
    assert not found & {*hashes(frame.withColumnRenamed("n", "m"))}
