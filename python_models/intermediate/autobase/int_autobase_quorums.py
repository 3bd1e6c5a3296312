"""The quorums over each node; the rules are in dbt_tangles.autobase.quorums."""

from functools import partial

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.autobase.bases import INPUT_SCHEMA
from dbt_tangles.autobase.quorums import QUORUM_SCHEMA, quorums_of_partition


def model(dbt, spark):
    max_degree = dbt.config.meta_get("quorum_degrees")
    whole_bases = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names).repartition("base_id")
    quorums = partial(quorums_of_partition, max_degree=max_degree)
    return whole_bases.mapInArrow(quorums, from_arrow_schema(QUORUM_SCHEMA))
