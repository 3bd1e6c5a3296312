"""Epochs, members and who was dropped, of every group; the rules are in dbt_tangles.groups."""

from pyspark.sql import functions as sf

from dbt_spark_python.earlier import earlier
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.groups.partition import groups_of_partition
from dbt_tangles.groups.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA


def model(dbt, spark):
    messages = dbt.ref("int_group_messages").where("epoch_id is not null and group_id is not null")
    # Keys go from staging to the workers, where they break ties, and into no table.
    lines = dbt.ref("stg_ssb__lines").where("epoch_key is not null")
    inits = lines.select("message_id", "group_claim.key_fingerprint", "epoch_key")
    keys = inits.groupBy("message_id", "key_fingerprint").agg(sf.min("epoch_key").alias("epoch_key"))
    inputs = messages.join(keys, ["message_id", "key_fingerprint"], "left")
    return reduced_by_group(
        inputs.select(*INPUT_SCHEMA.names, "key_fingerprint"),
        ["group_id"],
        groups_of_partition,
        OUTPUT_SCHEMA,
        earlier(spark, dbt.this),
        uncounted=["epoch_key"],
    )
