"""Which columns a query may read, without Spark."""

import pytest

from dbt_spark_python.columns import mentioned

COLUMNS = ["shop", "day", "amount", "a`b"]


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("select shop, count(*) from orders group by shop", ["shop"]),
        ("select o.SHOP, `a``b` from orders as o where Day > 1 -- by shops", ["shop", "day", "a`b"]),
        ("select shopping, amounts, 'day' from orders", ["day"]),
        ("select /*+ broadcast(o) */ count( * ) from orders as o", []),
    ],
)
def test_columns_are_mentioned(query, read):
    assert mentioned(COLUMNS, query) == read


@pytest.mark.parametrize(
    "query",
    [
        "*",
        "select * from orders",
        "select o.*, day from orders as o",
        "select shop from orders natural join days",
        "table orders",
        "from orders |> where shop = 'a'",
        "select shop from orders pivot (sum(amount) for day in (1, 2))",
    ],
)
def test_columns_are_read_without_being_named(query):
    assert mentioned(COLUMNS, query) == COLUMNS
