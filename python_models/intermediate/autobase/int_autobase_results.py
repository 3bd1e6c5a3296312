"""Views, heads, quorums, changes and unsettled nodes of bases; computed by dbt_tangles.algorithms.autobase.results."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.result_rows import RESULT_SCHEMA
from dbt_tangles.algorithms.autobase.results import results_of_partition


def model(dbt, spark):
    row_limit = dbt.config.meta_get("base_clock_limit")
    max_degree = dbt.config.meta_get("quorum_degrees")
    rule = dbt.config.meta_get("consensus_rule")
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    results = partial(results_of_partition, row_limit=row_limit, max_degree=max_degree, rule=rule)
    return map_groups(members, ["base_id"], results, RESULT_SCHEMA)
