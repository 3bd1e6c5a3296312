"""The verified chain of each feed; computed by dbt_tangles.algorithms.feed.chains."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.feed.chains import CHAIN_SCHEMA, LINKS_SCHEMA, chains_of_partition


def model(dbt, spark):
    links = dbt.ref("int_feed_links").select(LINKS_SCHEMA.names)
    return map_groups(links, ["author"], chains_of_partition, CHAIN_SCHEMA, order=["sequence"])
