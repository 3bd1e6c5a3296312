"""Whether the keys that signed were their accounts'; the rules are in dbt_tangles.pzp.signers."""

from pyspark.sql import functions as sf

from dbt_spark_python.earlier import earlier
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.pzp.partition import AUTHORITY_SCHEMA, authority_of_partition


def model(dbt, spark):
    accounts = dbt.ref("int_pzp_account_messages")
    foreign = dbt.ref("int_pzp_foreign_tips")
    lines = dbt.ref("stg_pzp__lines")
    questions = (
        lines.where("sigkey is not null and not is_moot and account not in ('self', 'any')")
        .select(sf.col("account").alias("account_id"), "account_tips", "sigkey")
        .distinct()
    )
    return reduced_by_group(
        accounts.unionByName(foreign, allowMissingColumns=True).unionByName(questions, allowMissingColumns=True),
        ["account_id"],
        authority_of_partition,
        AUTHORITY_SCHEMA,
        earlier(spark, dbt.this),
        gives_rows=sf.bool_or(sf.col("message_id").isNull()),
    )
