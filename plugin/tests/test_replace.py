"""The rows of unchanged groups, which a table keeps, and the counts of changed rows."""

import pytest

from dbt_spark_python.incremental.counts import count_changes
from dbt_spark_python.incremental.earlier import (
    ChangedGroups,
    ModelPlan,
    add_kept_rows,
    earlier,
    only_changed,
    set_plan,
)
from dbt_spark_python.table_store.public_folders import Publication

ROWS = [("a", 1, 1), ("a", 2, 2), ("b", 1, 3), (None, 1, 4), ("c", 1, 5)]
COLUMNS = "shop string, day int, amount bigint"


def replace(spark, rows: list, *groups: str, key: str = "shop", are_few: bool = False) -> tuple[list, tuple]:
    """Replace the rows of groups; return all rows and the counts of changed ones."""
    spark.createDataFrame(ROWS, COLUMNS).createOrReplaceTempView("sums")
    versions = [("b", 1), *((group, 2) for group in groups), *((group, 2) for group in groups)]
    spark.createDataFrame(versions, "group_key string, version int").createOrReplaceTempView("sum_versions")
    changed = ChangedGroups(key, "sum_versions", "group_key", 1, are_few)
    new = spark.createDataFrame(rows, COLUMNS).unionByName(spark.sql(changed.kept_rows("sums", "amount, day, shop")))
    publication = Publication(key_columns=["shop", "day"], changed=changed)
    counts = count_changes(spark.table("sums"), new, publication)
    assert count_changes(spark.table("sums"), new, publication._replace(changed=None)) == counts
    return sorted(map(tuple, new.collect()), key=repr), tuple(counts.values())


@pytest.mark.both
@pytest.mark.parametrize("are_few", [True, False])
@pytest.mark.parametrize(
    ("new", "groups", "key", "counts"),
    [
        ([], ["another"], "shop", (0, 0, 0)),
        ([("a", 1, 1), ("a", 2, 20), ("a", 4, 8)], ["a"], "shop", (1, 1, 0)),
        ([("new", 1, 9)], ["c", "new", "never was"], "shop", (1, 0, 1)),
        ([(None, 1, 40), ("", 2, 41)], [""], "shop", (1, 1, 0)),
        ([("a", 1, 10)], ["1"], "day", (0, 1, 3)),
        ([], ["a", "b", "c", ""], "shop", (0, 0, 5)),
    ],
)
def test_the_rows_of_changed_groups_are_replaced(spark, new, groups, key, counts, are_few):
    """A group may be new or gone, its key null (the empty text) or an expression; the columns' order does not count."""
    kept = [row for row in ROWS if str((row[1] if key == "day" else row[0]) or "") not in groups]
    assert replace(spark, new, *groups, key=key, are_few=are_few) == (sorted([*kept, *new], key=repr), counts)


@pytest.mark.both
def test_a_python_model_follows_its_plan(spark):
    rows = spark.createDataFrame(ROWS, COLUMNS)
    rows.createOrReplaceTempView("planned")
    versions = spark.createDataFrame([("a", 1), ("b", 2)], "group_key string, version int")

    def read() -> tuple[int, int, bool]:
        changed = only_changed(spark, "`planned`", rows, "shop", versions)
        is_continued = earlier(spark, "planned") is not None
        return changed.count(), add_kept_rows(spark, "planned", rows).count(), is_continued

    assert read() == (5, 5, True), "it has no plan"
    set_plan("planned", ModelPlan(1, True, False, "select * from planned where shop = 'a'"))
    assert read() == (1, 7, False)


@pytest.mark.spark
@pytest.mark.parametrize("are_few", [True, False])
def test_the_keys_of_few_groups_are_broadcast(spark, capsys, are_few):
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        spark.range(9).selectExpr("cast(id as string) as g", "id as version").createOrReplaceTempView("range_versions")
        spark.range(99).selectExpr("cast(id as string) as shop").createOrReplaceTempView("shops")
        changed = ChangedGroups("shop", "range_versions", "g", 6, are_few)
        rows = changed.rows_in(spark.table("shops"))
        rows.explain()
        assert sorted(row.shop for row in rows.collect()) == ["7", "8"]
        spark.sql(changed.kept_rows("shops", "*")).explain()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert capsys.readouterr().out.count("BroadcastHashJoin") == 2 * are_few
