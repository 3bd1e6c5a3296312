"""Vector clocks of tangles above `ancestor_limit` members; computed by dbt_tangles.algorithms.graph.clocks."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.clocks import author_clocks
from dbt_tangles.formats.ssb.graphs import graph_columns, tangle_columns


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    max_rows = dbt.config.meta_get("clock_limit")
    nodes = graph_columns(dbt.ref("int_tangle_levels").where("set_aside_reason is null"))
    clocks = partial(author_clocks, limit=limit, max_rows=max_rows, group_limit=max_rows)
    return tangle_columns(
        map_groups(nodes.select(author_clocks.reads.names), author_clocks.keys, clocks, author_clocks.writes)
    )
