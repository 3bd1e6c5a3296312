"""Tables that are reduced by group: daily totals of shops, made again for the shops alone whose orders changed."""

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as sf

from dbt_spark_python.group_digests import digest_groups as digest_partition
from dbt_spark_python.groups import DIGEST, digest_groups, reduced_by_group
from dbt_spark_python.row_texts import row_digest
from dbt_spark_python.sail import gather

ORDERS = "shop string, town string, day int, amount bigint, notes array<string>, paid double, slip binary"
TOTALS = "shop string, town string, day int, total bigint, run string"
KEYS = ["shop", "town"]


def totals_of(run: str):
    """A kernel that says of which run it is; of a shop that is shut it says nothing."""

    def kernel(batches):
        table = pa.Table.from_batches(batches)
        sums = table.group_by(["shop", "town", "day"]).aggregate([("amount", "sum")])
        sums = sums.rename_columns({"amount_sum": "total"}).filter(
            pc.fill_null(pc.not_equal(sums["shop"], "shut"), True)
        )
        yield from sums.append_column("run", pa.array([run] * len(sums), pa.string())).to_batches()

    return kernel


@pytest.fixture
def shops(spark, tmp_path):
    """Make the table of totals from the one before, as often as is asked for."""
    tables = []

    def make(orders: list[tuple], known: bool = True, **options) -> list[tuple]:
        rows = spark.createDataFrame([(*order, *[None] * (7 - len(order))) for order in orders], ORDERS)
        before = spark.read.parquet(tables[-1]) if tables and known else None
        made = reduced_by_group(rows, KEYS, totals_of(f"run {len(tables)}"), TOTALS, before, **options)
        tables.append(str(tmp_path / f"table{len(tables)}"))
        made.write.parquet(tables[-1])
        found = spark.read.parquet(tables[-1]).drop(DIGEST).collect()
        return sorted(map(tuple, found), key=repr)

    make.tables = tables
    return make


@pytest.mark.both
def test_a_table_that_has_the_rows_needs_no_digest(spark, tmp_path):
    """Orders with the day's number of orders: those of a shop that has news are counted again."""

    def count(run: str, batches):
        table = pa.Table.from_batches(batches)
        yield from table.append_column("run", pa.array([run] * len(table), pa.string())).to_batches()

    def make(run: str, orders: list[tuple], before: str | None) -> list[tuple]:
        rows = spark.createDataFrame([(*order, *[None] * (7 - len(order))) for order in orders], ORDERS)
        earlier = spark.read.parquet(before) if before else None
        made = reduced_by_group(rows, KEYS, partial(count, run), f"{ORDERS}, run string", earlier, keeps_rows=True)
        assert DIGEST not in made.columns
        made.write.parquet(str(tmp_path / run))
        found = spark.read.parquet(str(tmp_path / run)).select("shop", "town", "day", "run").collect()
        return sorted(map(tuple, found))

    first = [("a", "x", 1, 10), ("a", "x", 2, 10), ("b", "x", 1, 5, ["note"], 0.1, b"slip"), ("gone", "x", 1, 1)]
    make("one", first, None)
    found = make("two", [first[2], first[1], ("a", "x", 2, 11), ("c", "x", 1, 1)], str(tmp_path / "one"))
    assert found == [("a", "x", 2, "two"), ("a", "x", 2, "two"), ("b", "x", 1, "one"), ("c", "x", 1, "two")]


@pytest.mark.both
def test_groups_that_changed(shops):
    """More rows, fewer, other ones, copies, another order; a group that goes, one that comes; keys that are null."""
    first = [
        ("a", "x", 1, 10),
        ("a", "x", 1, 10),
        ("a", "x", 2, 1),
        ("a", "y", 1, 5),
        ("b", None, 1, 7),
        (None, "x", 1, 3),
        (None, None, 1, 4),
        ("gone", "x", 1, 9),
        ("shut", "x", 1, 8),
    ]
    assert {row[-1] for row in shops(first)} == {"run 0"}
    assert {row[-1] for row in shops(first[::-1])} == {"run 0"}
    second = [*first[4:7], ("a", "y", 1, 5, ["new"]), first[0], first[2], first[-1], ("", "x", 1, 2)]
    assert shops(second) == sorted(
        [
            ("a", "x", 1, 10, "run 2"),
            ("a", "x", 2, 1, "run 2"),
            ("a", "y", 1, 5, "run 2"),
            ("b", None, 1, 7, "run 0"),
            (None, "x", 1, 3, "run 0"),
            (None, None, 1, 4, "run 0"),
            ("", "x", 1, 2, "run 2"),
        ],
        key=repr,
    )
    assert {row[-1] for row in shops(second, known=False)} == {"run 3"}


@pytest.mark.both
@pytest.mark.parametrize(
    "other",
    [
        (2**53 + 1, ["a", "b"], 0.5, b"\xff"),
        (2**53, ["a,b"], 0.5, b"\xff"),
        (2**53, ["a", "b", None], 0.5, b"\xff"),
        (2**53, None, 0.5, b"\xff"),
        (2**53, ["a", "b"], 0.5000000000000001, b"\xff"),
        (2**53, ["a", "b"], None, b"\xff"),
        (2**53, ["a", "b"], float("nan"), b"\xff"),
        (2**53, ["a", "b"], 0.5, b"\xfe"),
        (2**53, ["a", "b"], 0.5, b""),
        (2**53, ["a", "b"], 0.5, None),
    ],
)
def test_every_column_counts(shops, other):
    """In all its digits and bytes, and null is a value of its own."""
    shops([("a", "x", 1, 2**53, ["a", "b"], 0.5, b"\xff"), ("b", "x", 1, 1)])
    assert {row[0]: row[-1] for row in shops([("a", "x", 1, *other), ("b", "x", 1, 1)])} == {"a": "run 1", "b": "run 0"}


@pytest.mark.both
def test_groups_that_are_known_to_be_touched(spark, shops):
    """By some of the columns that name them; nothing else is looked at, and one that is named may be what it was."""
    first = [("a", "x", 1, 10), ("a", "y", 1, 5), ("b", "x", 1, 7), (None, "x", 1, 3), ("gone", "x", 1, 9)]
    shops(first)
    second = [("a", "x", 1, 11), *first[1:2], ("b", "x", 1, 8), ("new", "x", 1, 1)]
    touched = spark.createDataFrame([("a",), ("new",), ("a",), (None,), ("gone",)], "shop string")
    assert shops(second, touched=touched) == [
        ("a", "x", 1, 11, "run 1"),
        ("a", "y", 1, 5, "run 1"),
        ("b", "x", 1, 7, "run 0"),
        ("new", "x", 1, 1, "run 1"),
    ]
    assert {row[0]: row[-1] for row in shops(second)} == {"a": "run 1", "b": "run 2", "new": "run 1"}
    assert {row[-1] for row in shops(second, known=False, touched=touched)} == {"run 3"}


@pytest.mark.both
def test_what_follows_decides_nothing(spark, shops):
    """Rows that follow from the others reach the kernel, and do not count; nor do groups that give no rows."""

    def derived(*orders):
        return spark.createDataFrame(list(orders), "shop string, town string, day int, amount bigint")

    orders = [("a", "x", 1, 10), ("b", "x", 1, 5)]
    shops(orders, derived=derived(("a", "x", 2, 0)))
    rows = shops([*orders, ("b", "x", 1, 1)], derived=derived(("a", "x", 3, 0), ("b", "x", 4, 0)))
    assert rows == [
        ("a", "x", 1, 10, "run 0"),
        ("a", "x", 2, 0, "run 0"),
        ("b", "x", 1, 6, "run 1"),
        ("b", "x", 4, 0, "run 1"),
    ]


@pytest.mark.both
def test_what_the_digest_is_not_to_know(shops):
    """A column reaches the kernel and does not count."""
    shops([("a", "x", 1, 10, ["secret"]), ("b", "x", 1, 5, ["secret"])], uncounted=["notes"])
    rows = shops([("a", "x", 1, 10, ["other"]), ("b", "x", 1, 6, ["other"])], uncounted=["notes"])
    assert rows == [("a", "x", 1, 10, "run 0"), ("b", "x", 1, 6, "run 1")]


@pytest.mark.both
def test_groups_without_rows(spark, shops):
    """They are looked at each time, but for those that are known to give none."""
    from pyspark.sql import functions as sf

    orders = [("a", "x", 1, 10), ("shut", "x", 1, 5)]
    shops(orders)
    seen = []

    def kernel(batches):
        for batch in batches:
            seen.extend(batch.column("shop").to_pylist())
            assert "a" not in seen
        return iter(())

    rows = spark.createDataFrame([(*order, None, None, None) for order in orders], ORDERS)
    before = spark.read.parquet(shops.tables[-1])
    assert reduced_by_group(rows, KEYS, kernel, TOTALS, before).count() == 1
    is_open = sf.max("shop") != "shut"

    def none_at_all(batches):
        assert not list(batches)
        return iter(())

    assert reduced_by_group(rows, KEYS, none_at_all, TOTALS, before, gives_rows=is_open).count() == 1


@pytest.mark.both
def test_groups_that_are_not_looked_at(shops):
    """The kernel gets the rest, and that is what the digests are of."""

    def looked_at(batches):
        for batch in batches:
            yield batch.filter(pc.not_equal(batch.column("shop"), "too large"))

    orders = [("a", "x", 1, 10), ("too large", "x", 1, 5), ("b", "x", 1, 7)]
    assert shops(orders, looked_at=looked_at) == [("a", "x", 1, 10, "run 0"), ("b", "x", 1, 7, "run 0")]
    orders[2] = ("b", "x", 1, 8)
    assert shops(orders, looked_at=looked_at) == [("a", "x", 1, 10, "run 0"), ("b", "x", 1, 8, "run 1")]


@pytest.mark.both
def test_a_row_of_no_group(spark):
    def kernel(batches):
        for batch in batches:
            yield batch.append_column("run", pa.array(["x"])).set_column(0, "shop", pa.array(["another"]))

    rows = spark.createDataFrame([("a", "x", 1, 10)], "shop string, town string, day int, total bigint")
    with pytest.raises(Exception, match="a row of a group that it was not given: shop, town"):
        reduced_by_group(rows, KEYS, kernel, TOTALS).collect()


@pytest.mark.both
def test_both_ways_to_digest_a_group(spark):
    """Before the rows are moved, and where the kernel is."""
    orders = [(f"s{n % 7}", None if n % 3 else "x", n, n) for n in range(100)]
    rows = spark.createDataFrame(orders, "shop string, town string, day int, amount bigint")
    by_sql = {(row.shop, row.town): bytes(row[DIGEST]) for row in digest_groups(rows, KEYS).collect()}
    digested = rows.withColumn("row", sf.unhex(row_digest(rows, rows.columns))).collect()
    table = pa.table(
        {
            "shop": [row.shop for row in digested],
            "town": pa.array([row.town for row in digested], pa.string()),
            "row": pa.array([bytes(row["row"]) for row in digested], pa.binary()),
        }
    )
    names, digests = digest_partition(table, KEYS, "row")
    by_arrow = dict(zip(zip(*names.to_pydict().values(), strict=True), digests.to_pylist(), strict=True))
    assert by_sql == by_arrow
    assert len(by_sql) == len(set(by_sql.values())) == 14


@pytest.mark.spark
def test_groups_stay_together_behind_a_join(spark):
    """Spark divides what is large in a join; a group's rows are in one partition all the same."""
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "10k",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "10k",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1",
    }
    before = {name: spark.conf.get(name, None) for name in settings}
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
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
