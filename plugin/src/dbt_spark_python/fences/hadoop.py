"""Hadoop's classes in the JVM of a Spark session."""

from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from dbt_spark_python.session.progress import is_connect


class Hadoop(NamedTuple):
    """A class and the settings of Hadoop, as objects of py4j."""

    path: Any  # the class org.apache.hadoop.fs.Path
    configuration: Any  # the configuration of the session's context


def find_hadoop(spark: SparkSession) -> Hadoop | None:
    """Return Hadoop as a Spark session in this process has it; None for a server of Spark Connect.

    Python has no public way to the file systems that Spark is configured for (pyspark 4.0 to 4.3).
    """
    if is_connect(spark):
        return None
    context = spark.sparkContext
    return Hadoop(context._jvm.org.apache.hadoop.fs.Path, context._jsc.hadoopConfiguration())
