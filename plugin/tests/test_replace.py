"""The part of a plan that a Python model reads, and the keys of few changed groups, which joins broadcast."""

import pytest

from dbt_spark_python.incremental import earlier

ROWS = [("a", 1, 1), ("a", 2, 2), ("b", 1, 3), (None, 1, 4), ("c", 1, 5)]
COLUMNS = "shop string, day int, amount bigint"


@pytest.mark.both
def test_a_python_model_follows_its_plan(spark):
    rows = spark.createDataFrame(ROWS, COLUMNS)
    rows.createOrReplaceTempView("planned")
    versions = spark.createDataFrame([("a", 1), ("b", 2)], "group_key string, version int")

    def read() -> tuple[int, int, bool]:
        changed = earlier.only_changed(spark, "`planned`", rows, "shop", versions)
        is_continued = earlier.earlier(spark, "planned") is not None
        return changed.count(), earlier.add_kept_rows(spark, "planned", rows).count(), is_continued

    assert read() == (5, 5, True), "it has no plan"
    earlier.set_plan("planned", earlier.ModelPlan(1, True, False, "select * from planned where shop = 'a'"))
    assert read() == (1, 7, False)


@pytest.mark.spark
@pytest.mark.parametrize("are_few", [True, False])
def test_the_keys_of_few_groups_are_broadcast(spark, capsys, are_few):
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        spark.range(9).selectExpr("cast(id as string) as g", "id as version").createOrReplaceTempView("range_versions")
        spark.range(99).selectExpr("cast(id as string) as shop").createOrReplaceTempView("shops")
        changed = earlier.ChangedGroups("shop", "range_versions", "g", 6, are_few)
        rows = changed.rows_in(spark.table("shops"))
        rows.explain()
        assert sorted(row.shop for row in rows.collect()) == ["7", "8"]
        spark.sql(changed.kept_rows("shops", "*")).explain()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert capsys.readouterr().out.count("BroadcastHashJoin") == 2 * are_few
