"""Registers the plugin's adapter with dbt in place of dbt-spark's own."""

import logging
import warnings

import dbt.adapters.spark
from dbt.plugins import dbtPlugin
from dbt_common.events.event_manager_client import add_callback_to_manager

from dbt_spark_python.adapter import SparkAdapter
from dbt_spark_python.session.progress import RunProgress


class SparkPythonPlugin(dbtPlugin):
    """Adds `submission_method: session`, folder warehouses and progress lines to the Spark adapter."""

    def initialize(self) -> None:
        """Replace dbt-spark's adapter class. dbt calls this for every command; the engine starts later."""
        # pyspark 4 logs every failed query a second time, as JSON; dbt reports the failure itself.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        # dbt-spark sets Hive's catalog on every session; a Spark Connect server refuses that.
        warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
        dbt.adapters.spark.Plugin.adapter = SparkAdapter
        add_callback_to_manager(RunProgress())
