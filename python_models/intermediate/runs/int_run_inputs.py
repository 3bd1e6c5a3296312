"""Given logs, with the numbers and sizes of their files."""

from pyspark.sql import functions as sf

from dbt_tangles.ingest.log_lines import measure_files


def model(dbt, spark):
    given = {
        "ssb_log": dbt.config.meta_get("ssb_log"),
        "pzp_log": dbt.config.meta_get("pzp_log"),
        "autobase_log": dbt.config.meta_get("autobase_log"),
        "event_log": dbt.config.meta_get("event_log"),
    }
    inputs = spark.createDataFrame([], "var string, path string, files bigint, bytes bigint")
    for name, path in given.items():
        if path:
            files = measure_files(spark, path, name)
            inputs = inputs.union(files.select(sf.lit(name), sf.lit(path), "files", "bytes"))
    return inputs
