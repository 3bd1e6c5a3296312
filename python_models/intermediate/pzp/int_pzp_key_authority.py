"""Whether each signing key was one of its account's; computed by dbt_tangles.formats.pzp.signers."""

from dbt_spark_python.incremental.earlier import only_changed
from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.formats.pzp.signers import key_authority


def model(dbt, spark):
    versions = dbt.ref("int_pzp_account_versions")
    rows = only_changed(spark, dbt.this, dbt.ref("int_pzp_account_rows"), "account_id", versions)
    return map_groups(rows.select(key_authority.reads.names), key_authority.keys, key_authority, key_authority.writes)
