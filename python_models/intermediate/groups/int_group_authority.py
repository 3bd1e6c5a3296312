"""A verdict about the author of each message of a group; computed by dbt_tangles.algorithms.private_group.authority."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.private_group.authority import judge_authority


def model(dbt, spark):
    acts = dbt.ref("int_group_acts").select(judge_authority.reads.names)
    judge = partial(judge_authority, is_rule=dbt.config.meta_get("group_authority"))
    return map_groups(acts, judge_authority.keys, judge, judge_authority.writes)
