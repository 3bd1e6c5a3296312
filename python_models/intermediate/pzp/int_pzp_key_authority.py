"""Whether the keys that signed were their accounts'; the rules are in dbt_tangles.pzp.signers."""

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.pzp.partition import AUTHORITY_SCHEMA, authority_of_partition


def model(dbt, spark):
    accounts = dbt.ref("int_pzp_account_messages")
    lines = dbt.ref("stg_pzp__lines")
    questions = (
        lines.where("sigkey is not null and not is_moot and account not in ('self', 'any')")
        .select(sf.col("account").alias("account_id"), "account_tips", "sigkey")
        .distinct()
    )
    whole_accounts = accounts.unionByName(questions, allowMissingColumns=True).repartition("account_id")
    return whole_accounts.mapInArrow(authority_of_partition, from_arrow_schema(AUTHORITY_SCHEMA))
