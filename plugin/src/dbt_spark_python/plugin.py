"""Registers the plugin's adapter with dbt in place of dbt-spark's own."""

import gc
import logging
import warnings

import dbt.adapters.spark
from dbt.plugins import dbtPlugin
from dbt_common.events.event_manager_client import add_callback_to_manager

from dbt_spark_python.adapter import SparkAdapter
from dbt_spark_python.session.progress import RunProgress

#: The new objects after which Python looks for garbage in cycles. With Python's default of 700, a tenth of the time in
#: which dbt parses goes to searches that find little.
_BEFORE_COLLECTION = 50_000


class SparkPythonPlugin(dbtPlugin):
    """Adds `submission_method: session`, folder warehouses and progress lines to the Spark adapter."""

    def initialize(self) -> None:
        """Replace dbt-spark's adapter class. dbt calls this for every command; the engine starts later."""
        first, *others = gc.get_threshold()
        if first:  # 0 turns the collection off.
            gc.set_threshold(max(first, _BEFORE_COLLECTION), *others)
        # pyspark 4 logs every failed query a second time, as JSON; dbt reports the failure itself.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        # dbt-spark sets Hive's catalog on every session; a Spark Connect server refuses that.
        warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
        dbt.adapters.spark.Plugin.adapter = SparkAdapter
        add_callback_to_manager(RunProgress())
