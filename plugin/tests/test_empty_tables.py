"""A table loses all its rows and gets them back, with all kinds of columns, on both engines."""

import pytest

from dbt_spark_python.table_store.warehouse import Warehouse
from plugin_projects import make_project

pytestmark = pytest.mark.both

# Columns declared as not null, as in public models, and nullable ones.
MODELS = {
    "lists.sql": """
        {{ config(materialized='table') }}
        select
            id,
            coalesce(collect_list(word), array()) as words,
            array('a') as letters,
            array(named_struct('n', 1, 'words', array('a'))) as nested,
            map('a', array(1)) as numbers,
            named_struct('n', 1, 'words', array('a')) as pair,
            timestamp '2020-01-01 00:00:00' as at,
            date '2020-01-01' as day,
            cast(1.5 as decimal(10, 2)) as amount,
            cast('a' as binary) as bytes,
            cast(null as array<string>) as unknown
        from values (1, 'x'), (1, 'y'), (2, 'z') as given (id, word)
        where id > {{ var('above') }}
        group by id
    """,
    "python.py": """
        def model(dbt, spark):
            return dbt.ref("lists").select("id", "words", "nested", "at")
    """,
    "read.sql": """
        {{ config(materialized='table') }}
        select lists.id, size(lists.words) as n, lists.at, python.nested
        from {{ ref('lists') }} as lists
        inner join {{ ref('python') }} as python on lists.id = python.id and size(python.words) > 0
    """,
}
COUNTED = {"counted.sql": "{% macro counted_key_columns() %}{{ return(['id']) }}{% endmacro %}"}


def test_rows_go_and_come_back(project, tmp_path):
    folder = make_project(tmp_path / "p", MODELS, COUNTED)
    seen = []
    for above in (0, 5, 5, 1, 0):
        built = project("empty_tables", folder, above=above).build()
        seen.append(built.rows("lists"))
        assert [row["id"] for row in sorted(seen[-1], key=lambda row: row["id"])] == [1, 2][above:]
        assert len(built.rows("read")) == len(built.rows("python")) == len(seen[-1])
        warehouse = Warehouse(built.warehouse)
        changes = [warehouse.find(built.schema, name).changes for name in ("lists", "read")]
        warehouse.close()
        before = {row["id"] for row in (seen[-2] if len(seen) > 1 else [])}
        now = {row["id"] for row in seen[-1]}
        if before != now:  # an unchanged table keeps the counts of its last change
            counted = {"rows_added": len(now - before), "rows_changed": 0, "rows_removed": len(before - now)}
            assert changes == [counted, counted]
    assert sorted(map(repr, seen[0])) == sorted(map(repr, seen[-1]))
