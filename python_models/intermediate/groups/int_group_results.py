"""Epochs, members and who was dropped, of every group; the rules are in dbt_tangles.groups."""

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.groups.partition import groups_of_partition
from dbt_tangles.groups.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA


def model(dbt, spark):
    messages = dbt.ref("int_group_messages").where("epoch_id is not null and group_id is not null")
    # Keys go from staging to the workers, where they break ties, and into no table.
    lines = dbt.ref("stg_ssb__lines").where("epoch_key is not null")
    inits = lines.select("message_id", "group_claim.key_fingerprint", "epoch_key")
    keys = inits.groupBy("message_id", "key_fingerprint").agg(sf.min("epoch_key").alias("epoch_key"))
    inputs = messages.join(keys, ["message_id", "key_fingerprint"], "left").select(INPUT_SCHEMA.names)
    whole_groups = inputs.repartition("group_id")
    return whole_groups.mapInArrow(groups_of_partition, from_arrow_schema(OUTPUT_SCHEMA))
