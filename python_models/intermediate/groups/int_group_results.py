"""Epochs, members and dropped feeds of every group; computed by dbt_tangles.algorithms.private_group."""

from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import only_changed
from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.private_group.reduction import reduce_groups


def model(dbt, spark):
    messages = dbt.ref("int_group_messages").where("epoch_id is not null and group_id is not null")
    messages = only_changed(spark, dbt.this, messages, "group_id", dbt.ref("int_group_versions"))
    refused = dbt.ref("int_group_authority").where("is_refused")
    messages = messages.join(refused.select("group_id", "message_id"), ["group_id", "message_id"], "left_anti")
    # Keys go from staging to the workers, where they break ties; they are never written to a table.
    lines = dbt.ref("stg_ssb__lines").where("epoch_key is not null")
    inits = lines.select("message_id", "group_claim.key_fingerprint", "epoch_key")
    keys = inits.groupBy("message_id", "key_fingerprint").agg(sf.min("epoch_key").alias("epoch_key"))
    inputs = messages.join(keys, ["message_id", "key_fingerprint"], "left")
    inputs = inputs.select(reduce_groups.reads.names)
    return map_groups(inputs, reduce_groups.keys, reduce_groups, reduce_groups.writes)
