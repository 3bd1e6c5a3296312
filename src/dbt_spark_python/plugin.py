"""The dbt plugin: prepares the environment of an embedded session and registers the submission method."""

import logging

from dbt.adapters.spark.impl import SparkAdapter
from dbt.plugins import dbtPlugin

from dbt_spark_python import environment
from dbt_spark_python.submission import SessionPythonJob

SUBMISSION_METHOD = "session"


class SparkPythonPlugin(dbtPlugin):
    """Adds `submission_method: session` to the Spark adapter."""

    def initialize(self) -> None:
        """Run once, when dbt loads its plugins and before any connection is opened.

        Raises:
            RuntimeError: no usable JVM (dbt shows the message and stops).
        """
        environment.prepare()
        # pyspark 4 logs every failed query a second time, as JSON; dbt reports the failure itself.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        register(SparkAdapter)


def register(adapter: type) -> None:
    """Add the submission method to `adapter.python_submission_helpers`; calling it twice changes nothing."""
    shipped = adapter.python_submission_helpers
    if getattr(shipped, "has_session", False):
        return

    class Helpers(property):
        has_session = True

    adapter.python_submission_helpers = Helpers(
        lambda self: {**shipped.fget(self), SUBMISSION_METHOD: SessionPythonJob}
    )
