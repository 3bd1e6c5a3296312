"""The dbt plugin: puts the adapter with Python models in the place of dbt-spark's own."""

import logging

import dbt.adapters.spark
from dbt.plugins import dbtPlugin

from dbt_spark_python.adapter import SparkAdapter


class SparkPythonPlugin(dbtPlugin):
    """Adds `submission_method: session`, and warehouses of folders, to the Spark adapter."""

    def initialize(self) -> None:
        """Run when dbt loads its plugins, for any project and command: nothing is looked for or started here."""
        # pyspark 4 logs every failed query a second time, as JSON; dbt reports the failure itself.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        dbt.adapters.spark.Plugin.adapter = SparkAdapter
