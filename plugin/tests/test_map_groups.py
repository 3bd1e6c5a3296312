"""Python functions on rows: one call gets all rows of its groups, and null lists stay null."""

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from dbt_spark_python.engines.sail import gather, map_in_arrow
from dbt_spark_python.python_model import worker_rows
from dbt_spark_python.python_model.map_groups import map_groups

ORDERS = "shop string, town string, amount int, notes array<string>"


@pytest.fixture
def count_orders():
    """A kernel that is pickled by value."""

    def count_orders(batches):
        """Count the orders of each group; the columns come in another order and with smaller number types."""
        counts, notes = {}, {}
        for batch in batches:
            for row in batch.to_pylist():
                key = row["shop"], row["town"]
                counts[key] = counts.get(key, 0) + 1
                notes.setdefault(key, []).append(row["notes"])
        yield pa.RecordBatch.from_pydict(
            {
                "orders": pa.array(counts.values(), pa.int16()),
                "town": pa.array([town for _, town in counts], pa.string()),
                "shop": pa.array([shop for shop, _ in counts], pa.string()),
                "missing": pa.array([sum(note is None for note in notes[key]) for key in counts], pa.int64()),
            }
        )

    return count_orders


SCHEMAS = [
    "shop string, town string, orders bigint, missing int",
    pa.schema([("shop", pa.string()), ("town", pa.string()), ("orders", pa.int64()), ("missing", pa.int32())]),
    StructType([StructField(name, StringType()) for name in ("shop", "town")] + [StructField("orders", LongType())]),
]


@pytest.mark.both
@pytest.mark.parametrize("schema", SCHEMAS, ids=["sql", "arrow", "spark"])
def test_all_rows_of_a_group_reach_one_call(spark, count_orders, schema):
    """Null is a valid key, null lists stay null, and the table has the requested columns and types."""
    rows = [
        (shop, town, n, [] if n % 2 else None) for n in range(50) for shop in ("a", "b", None) for town in ("x", None)
    ]
    frame = spark.createDataFrame(rows, ORDERS).repartition(7)
    made = map_groups(frame, ["shop", "town"], count_orders, schema)
    expected = [(shop, town, 50, 25) for shop in ("a", "b", None) for town in ("x", None)]
    assert sorted(map(repr, map(tuple, made.collect()))) == sorted(repr(row[: len(made.columns)]) for row in expected)
    assert [kind for _, kind in made.dtypes] == ["string", "string", "bigint", "int"][: len(made.columns)]


@pytest.mark.both
def test_rows_in_an_order(spark):
    def tell(batches):
        """Tell each row's shop and amount, and its place in the call."""
        rows = [(row["shop"], row["amount"]) for batch in batches for row in batch.to_pylist()]
        shops, amounts = zip(*rows, strict=True) if rows else ((), ())
        yield pa.RecordBatch.from_pydict({"shop": shops, "amount": amounts, "place": range(len(rows))})

    frame = spark.range(60_000).selectExpr("concat('shop ', id % 7) as shop", "(id * 7919) % 60000 as amount")
    made = map_groups(frame, ["shop"], tell, "shop string, amount bigint, place bigint", order=["amount"]).collect()
    by_shop = {}
    for row in sorted(made, key=lambda row: (row.shop, row.place)):
        by_shop.setdefault(row.shop, []).append(row)
    for rows in by_shop.values():
        assert [row.amount for row in rows] == sorted(row.amount for row in rows)
        assert rows[-1].place - rows[0].place == len(rows) - 1
    assert sum(map(len, by_shop.values())) == 60_000


@pytest.mark.both
def test_no_rows(spark, count_orders):
    made = map_groups(spark.createDataFrame([], ORDERS), ["shop"], count_orders, SCHEMAS[0])
    assert made.count() == 0
    assert made.columns == ["shop", "town", "orders", "missing"]


@pytest.mark.both
def test_a_kernel_without_a_column(spark, count_orders):
    frame = spark.createDataFrame([("a", "x", 1, None)], ORDERS)
    with pytest.raises(Exception, match="price"):
        map_groups(frame, ["shop"], count_orders, "shop string, price int").collect()


@pytest.mark.spark
def test_groups_stay_together_behind_a_join(spark):
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "10k",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "10k",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1",
    }
    orders = spark.range(0, 100_000, 1, 4).selectExpr(
        "if(id % 10 = 0, concat('shop ', id % 1000), 'large') as shop", "sha2(cast(id as string), 256) as text"
    )
    closed = spark.createDataFrame([("shop 10",), ("shop 20",)], "shop string")

    def shops(batches):
        names = {name for batch in batches for name in batch["shop"].to_pylist()}
        yield pa.RecordBatch.from_pydict({"shop": sorted(names)})

    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        rows = orders.join(closed, "shop", "left_anti")
        for several in (rows, rows.unionAll(rows)):
            found = [row.shop for row in gather(several, "shop").mapInArrow(shops, "shop string").collect()]
            assert len(found) == len(set(found)) == 99
    finally:
        for name in settings:
            spark.conf.unset(name)


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
