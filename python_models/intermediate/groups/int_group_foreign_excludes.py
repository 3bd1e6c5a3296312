"""Excludes that count against an epoch that does not follow them; computed by dbt_tangles.algorithms.private_group."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.private_group.foreign_excludes import foreign_excludes


def model(dbt, spark):
    links = dbt.ref("int_group_links").select(foreign_excludes.reads.names)
    return map_groups(links, foreign_excludes.keys, foreign_excludes, foreign_excludes.writes)
