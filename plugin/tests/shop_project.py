"""A dbt project with one kind of group: orders of shops, their versions, a working set, and two complete tables."""

import csv
from pathlib import Path

from conftest import ENGINE, FORMATS
from plugin_projects import make_project

#: Environment variables: the name of a model that fails, or that kills its process.
FAILS, DIES = "SHOP_FAILS", "SHOP_DIES"

_MODELS = {
    "orders.py": """
        import csv


        def model(dbt, spark):
            with open(dbt.config.meta_get("log")) as log:
                rows = [(shop or None, int(day), int(amount)) for shop, day, amount in csv.reader(log)]
            return spark.createDataFrame(rows, "shop string, day int, amount bigint")
    """,
    "shop_versions.sql": """
        with

        orders as (
            select shop, cast(day as string) as day, cast(amount as string) as amount from {{ ref('orders') }}
        ),

        {{ group_versions('orders', 'shop', ['day', 'amount']) }}
    """,
    "changed_orders.sql": """
        select shop, day, amount from {{ ref('orders') }}
        where {{ is_changed('shop', ref('shop_versions')) }}
    """,
    "sums.sql": """
        select shop, sum(amount) as total, count(*) as orders
        {%- if env_var('SHOP_FAILS', '') == 'sums' %}, raise_error('it fails') as failed {% endif %}
        from {{ ref('changed_orders') }}
        group by shop
    """,
    "days.py": """
        import os

        import pyarrow as pa
        from dbt_spark_python.incremental.earlier import only_changed
        from dbt_spark_python.python_model.map_groups import map_groups


        def total_by_day(batches):
            totals = {}
            for batch in batches:
                for shop, day, amount in zip(*(batch.column(name).to_pylist() for name in ("shop", "day", "amount"))):
                    totals[shop, day] = totals.get((shop, day), 0) + amount
            rows = [{"shop": shop, "day": day, "total": total} for (shop, day), total in totals.items()]
            schema = pa.schema([("shop", pa.string()), ("day", pa.int32()), ("total", pa.int64())])
            yield pa.RecordBatch.from_pylist(rows, schema=schema)


        def model(dbt, spark):
            if os.environ.get("SHOP_DIES") == "days":
                os.kill(os.getpid(), 9)
            if os.environ.get("SHOP_FAILS") == "days":
                raise ValueError("it fails")
            orders = only_changed(spark, dbt.this, dbt.ref("changed_orders"), "shop", dbt.ref("shop_versions"))
            return map_groups(orders, ["shop"], total_by_day, "shop string, day int, total bigint")
    """,
    "models.yml": """
        models:
          - name: orders
            config:
              materialized: incremental_groups
              meta: {log: "{{ var('log') }}", reads: {paths: [log]}}
          - name: shop_versions
            config: {materialized: incremental_groups, meta: {holds: versions}}
          - name: changed_orders
            config:
              materialized: incremental_groups
              meta: {holds: changed_groups, group_versions: shop_versions, group_key: shop}
          - name: sums
            config:
              materialized: incremental_groups
              meta: {group_versions: shop_versions, group_key: shop, key_columns: [shop]}
            columns: [{name: total, data_tests: [is_positive]}]
          - name: days
            config:
              materialized: incremental_groups
              meta: {group_versions: shop_versions, group_key: shop}
    """,
}
_MACROS = {
    "is_positive.sql": """
        {% test is_positive(model, column_name) %}
            select * from {{ rows_to_test(model) }} where {{ column_name }} <= 0
        {% endtest %}
    """,
    "counted_key_columns.sql": """
        {% macro counted_key_columns() %}
            {{ return(config.meta_get('key_columns')) }}
        {% endmacro %}
    """,
}


def make_shop_project(folder: Path) -> Path:
    make_project(folder, _MODELS, _MACROS)
    (folder / "dbt_project.yml").write_text(
        "name: shop\nprofile: plugin\nmodels:\n  +submission_method: session\n"
        f"  +file_format: {FORMATS.get(ENGINE, 'parquet')}\n"
    )
    return folder


def write_orders(path: Path, orders: list[tuple]) -> None:
    with path.open("w", newline="") as log:
        csv.writer(log).writerows((shop or "", day, amount) for shop, day, amount in orders)


def expected_sums(orders: list[tuple]) -> list[tuple]:
    amounts = {shop: [amount for other, _, amount in orders if other == shop] for shop, _, _ in orders}
    return sorted(((shop, sum(found), len(found)) for shop, found in amounts.items()), key=repr)


def expected_days(orders: list[tuple]) -> list[tuple]:
    keys = {order[:2] for order in orders}
    return sorted(((*key, sum(order[2] for order in orders if order[:2] == key)) for key in keys), key=repr)
