"""Views, heads, quorums, changes and unsettled nodes of bases; computed by dbt_tangles.algorithms.autobase.results."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.results import results_of_bases


def model(dbt, spark):
    row_limit = dbt.config.meta_get("base_clock_limit")
    max_degree = dbt.config.meta_get("quorum_degrees")
    rule = dbt.config.meta_get("consensus_rule")
    design_position_limit = dbt.config.meta_get("design_position_limit")
    members = dbt.ref("int_autobase_members").select(results_of_bases.reads.names)
    results = partial(
        results_of_bases,
        row_limit=row_limit,
        max_degree=max_degree,
        rule=rule,
        design_position_limit=design_position_limit,
    )
    return map_groups(members, results_of_bases.keys, results, results_of_bases.writes)
