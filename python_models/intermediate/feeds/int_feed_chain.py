"""The verified chain of each feed; computed by dbt_tangles.algorithms.feed.chains."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.feed.chains import ChainLink, Link, chains_of
from dbt_tangles.kernel_runtime.row_schema import schema_of


def model(dbt, spark):
    links = dbt.ref("int_feed_links").select(*Link._fields)
    return map_groups(links, ["author"], chains_of, schema_of(ChainLink), order=["sequence"])
