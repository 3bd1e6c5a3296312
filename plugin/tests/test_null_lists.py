"""Null lists reach Python functions as null, although Spark sends empty lists."""

import pyarrow as pa
import pytest

from dbt_spark_python.engines.sail import map_in_arrow
from dbt_spark_python.python_model import worker_rows

COLUMNS = "id int, notes array<string>, rates array<struct<day: int, rate: double>>, groups array<array<string>>"
ROWS = [
    (1, None, None, None),
    (2, [], [], []),
    (3, ["a", None], [(1, 0.5), None], [["a"], None, []]),
    (4, None, [(2, None)], None),
    (5, ["b"], None, [[None]]),
]


def test_nulls_are_put_back():
    """Each list has its own bit; other columns, and batches without nulls, stay unchanged."""
    lists = pa.array([[], ["a"], []], pa.list_(pa.string()))
    columns, schemas = [pa.array([1, 2, 3]), lists, lists], set()
    schema = pa.schema([("id", pa.int64()), *(pa.field(name, lists.type, False) for name in ("first", "second"))])
    schema = schema.append(pa.field(worker_rows.NULL_LISTS, pa.int64()))

    def restored(bits: list[int]) -> dict:
        batch = pa.RecordBatch.from_arrays([*columns, pa.array(bits, pa.int64())], schema=schema)
        (found,) = worker_rows.with_null_lists(iter([batch]), lambda batches: batches, ["first", "second"])
        found.validate(full=True)
        schemas.add(found.schema)
        return found.to_pydict()

    assert restored([0, 0, 0]) == {"id": [1, 2, 3], "first": [[], ["a"], []], "second": [[], ["a"], []]}
    assert restored([1, 0, 2]) == {"id": [1, 2, 3], "first": [None, ["a"], []], "second": [[], ["a"], None]}
    assert restored([3, 0, 0])["second"] == [None, ["a"], []]
    assert len(schemas) == 1


@pytest.mark.both
def test_a_function_gets_the_rows(spark):
    rows = spark.createDataFrame(ROWS, COLUMNS)
    seen = "columns array<string>"

    def names(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pylist([{"columns": batch.schema.names}])

    assert {tuple(row.columns) for row in map_in_arrow(rows, names, seen).collect()} == {tuple(rows.columns)}
    found = map_in_arrow(rows, lambda batches: batches, rows.schema).collect()
    assert sorted(map(repr, found)) == sorted(map(repr, rows.collect()))
    only_ids = rows.select("id")
    assert map_in_arrow(only_ids, lambda batches: batches, only_ids.schema).count() == len(ROWS)
