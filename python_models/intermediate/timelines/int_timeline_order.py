"""The converged order of every timeline and the edits that lead to it: dbt_tangles.algorithms.timeline.

The model reads the order that an earlier run published and compares it with the new order, for `timeline_updates`.
"""

from functools import partial

from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import earlier, only_changed
from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.timeline.order import order_timelines
from dbt_tangles.algorithms.timeline.schemas import PUBLISHED


def model(dbt, spark):
    batch_size = dbt.config.meta_get("edit_batch_size")
    edit_limit = dbt.config.meta_get("edit_limit")
    edit_command_limit = dbt.config.meta_get("edit_command_limit")
    log_timeline = dbt.config.meta_get("log_timeline")
    rows_in_memory = dbt.config.meta_get("rows_in_memory")
    published = earlier(spark, dbt.this)
    if published is not None and not {*PUBLISHED} <= set(published.columns):
        raise ValueError(f"{dbt.this} is of an earlier version of this project: build it once with --full-refresh")
    versions = dbt.ref("int_timeline_versions")
    arrivals = only_changed(spark, dbt.this, dbt.ref("int_timeline_arrivals"), "timeline_id", versions)
    # With `log_timeline: order`, the timeline of the whole log has neither links nor scripts.
    is_order_only = sf.expr("timeline_id = 'ssb:log' and line is null" if log_timeline == "order" else "false")
    rows = arrivals.withColumn("is_published", sf.lit(False)).withColumn("is_order_only", is_order_only)
    if published is not None:
        published = only_changed(spark, dbt.this, published.where(~is_order_only), "timeline_id", versions)
        before = published.select("timeline_id", "event_id", *PUBLISHED)
        rows = rows.unionByName(before.withColumn("is_published", sf.lit(True)), allowMissingColumns=True)
    order = partial(
        order_timelines,
        batch_size=batch_size,
        edit_limit=edit_limit,
        edit_command_limit=edit_command_limit,
        rows_in_memory=rows_in_memory,
    )
    return map_groups(rows, order_timelines.keys, order, order_timelines.writes)
