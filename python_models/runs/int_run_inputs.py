"""The logs that were read: how many files, bytes and lines."""

from pyspark.sql import functions as sf

from dbt_spark_python.lines import list_files

SCHEMA = "var string, path string, files bigint, bytes bigint, lines bigint"


def model(dbt, spark):
    given = {
        "ssb_log": (dbt.config.meta_get("ssb_log"), dbt.ref("stg_ssb__lines")),
        "pzp_log": (dbt.config.meta_get("pzp_log"), dbt.ref("stg_pzp__lines")),
        "autobase_log": (dbt.config.meta_get("autobase_log"), dbt.ref("stg_autobase__lines")),
        "event_log": (dbt.config.meta_get("event_log"), dbt.ref("stg_events__lines")),
    }
    inputs = spark.createDataFrame([], SCHEMA)
    for name, (path, lines) in given.items():
        if path:
            files = list_files(spark, path, name).agg(sf.count("*").alias("files"), sf.sum("bytes").alias("bytes"))
            counted = files.crossJoin(lines.agg(sf.count("*").alias("lines")))
            inputs = inputs.union(counted.select(sf.lit(name), sf.lit(path), "files", "bytes", "lines"))
    return inputs
