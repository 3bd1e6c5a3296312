"""Reasons of the code, with their meanings and remedies."""

from dbt_tangles.reasons import rows


def model(dbt, spark):
    return spark.createDataFrame(list(rows()), "code_column string, code string, meaning string, remedy string")
