"""Excludes that count against an epoch that does not follow them; computed by dbt_tangles.algorithms.private_group."""

from functools import partial

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.engines.sail import gather, map_in_arrow
from dbt_tangles.algorithms.private_group.foreign_excludes import (
    FOREIGN_INPUT_SCHEMA,
    FOREIGN_OUTPUT_SCHEMA,
    foreign_excludes,
)
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    whole_groups = gather(dbt.ref("int_group_links").select(FOREIGN_INPUT_SCHEMA.names), "group_id")
    return map_in_arrow(
        whole_groups, partial(run_on_partition, foreign_excludes), from_arrow_schema(FOREIGN_OUTPUT_SCHEMA)
    )
