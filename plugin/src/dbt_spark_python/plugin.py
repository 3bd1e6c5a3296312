"""The dbt plugin: puts the adapter with Python models in the place of dbt-spark's own."""

import logging
import warnings

import dbt.adapters.spark
from dbt.plugins import dbtPlugin
from dbt_common.events.event_manager_client import add_callback_to_manager

from dbt_spark_python.adapter import SparkAdapter
from dbt_spark_python.session.progress import RunProgress


class SparkPythonPlugin(dbtPlugin):
    """Adds `submission_method: session`, warehouses of folders and lines of progress to the Spark adapter."""

    def initialize(self) -> None:
        """Run when dbt loads its plugins, for any project and command: nothing is looked for or started here."""
        # pyspark 4 logs every failed query a second time, as JSON; dbt reports the failure itself.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        # dbt-spark asks every session for Hive's catalog; that of a Spark Connect server is the server's.
        warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
        dbt.adapters.spark.Plugin.adapter = SparkAdapter
        add_callback_to_manager(RunProgress())
