"""Reasons why nodes are not settled; computed by dbt_tangles.algorithms.autobase.unsettled."""

from functools import partial

from pyspark.sql import functions as sf

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.unsettled import UNSETTLED_INPUT_SCHEMA, UNSETTLED_SCHEMA, unsettled_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    rule = dbt.config.meta_get("consensus_rule")
    stopped = dbt.ref("int_autobase_stopped").groupBy("base_id").agg(sf.collect_set("writer").alias("stopped"))
    # The list stands on the row with the indexers: on every row it would take writers x nodes of space.
    members = dbt.ref("int_autobase_members").join(stopped, "base_id", "left")
    members = members.withColumn("stopped", sf.when(sf.col("indexers").isNotNull(), sf.col("stopped")))
    unsettled = partial(run_on_partition, unsettled_of_bases, rule=rule)
    return map_groups(members.select(UNSETTLED_INPUT_SCHEMA.names), ["base_id"], unsettled, UNSETTLED_SCHEMA)
