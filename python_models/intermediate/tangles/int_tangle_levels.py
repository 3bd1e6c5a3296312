"""Membership, depth, orders and root causes of every tangle; computed by dbt_tangles.algorithms.graph.walk."""

from functools import partial

import pyarrow as pa

from dbt_spark_python.python_model.columns import arrow_schema
from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.walk import walk
from dbt_tangles.formats.ssb.graphs import graph_columns, tangle_columns


def model(dbt, spark):
    graph_limit = dbt.config.meta_get("graph_limit")
    rows_in_memory = dbt.config.meta_get("rows_in_memory")
    candidates = graph_columns(dbt.ref("int_tangle_candidates"))
    # The depths from SQL rounds travel as rows of their own to the task of their graph. This saves a join.
    depths = graph_columns(dbt.ref("int_tangle_depths").withColumnRenamed("depth", "known_depth"))
    nodes = map_groups(
        candidates.unionByName(depths, allowMissingColumns=True),
        walk.keys,
        partial(walk, group_limit=graph_limit, rows_in_memory=rows_in_memory),
        pa.schema([*arrow_schema(candidates.schema), *walk.writes]),
    )
    return tangle_columns(nodes)
