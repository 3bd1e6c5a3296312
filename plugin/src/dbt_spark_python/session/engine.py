"""Whether this environment has an engine. Nothing here imports pyspark, which two distributions bring.

`pyspark` is Spark itself, with its jars; `pyspark-client` is the part of it that talks to a server, and Sail and Spark
Connect need no more. pip installs both beside each other without a word, and each overwrites files of the other.
"""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

import dbt.adapters.spark
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark import impl
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.plugins import dbtPlugin

_SPARK = "pip install 'dbt-spark-python[spark]' (Spark and a JVM)"
_ALL = f"{_SPARK}, 'dbt-spark-python[sail]' (Sail, without a JVM) or 'dbt-spark-python[engines]' (both)"


def find_fault() -> str | None:
    """Say why no engine can run here, and what to do; None where one can."""
    if _is_installed("pyspark") and _is_installed("pyspark-client"):
        return (
            "pyspark and pyspark-client are both installed, and each has overwritten files of the other: "
            f"pip uninstall pyspark pyspark-client, then {_ALL}"
        )
    if find_spec("pyspark") is None:
        return f"this environment has no engine: {_ALL}"
    return None


def find_fault_of_spark() -> str | None:
    """Say why Spark itself cannot run in this process, and what to do; None where it can."""
    if find_spec("pyspark.core") or find_spec("pyspark.context"):  # 4.0 and newer; older
        return None
    return (
        "the profile's target is Spark itself, and this environment has only its client: choose a target on Sail or a "
        f"server (SPARK_REMOTE), or pip uninstall pyspark-client, then {_SPARK}"
    )


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


class NoSessions(SparkConnectionManager):
    """dbt-spark's connections; of sessions it says why there are none."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection; see `SparkConnectionManager.open`.

        Raises:
            RuntimeError: It is a session, which takes an engine.
        """
        if connection.credentials.method == SparkConnectionMethod.SESSION:
            raise RuntimeError(find_fault())
        return super().open(connection)


class SparkAdapter(impl.SparkAdapter):  # dbt makes the name of the adapter from the name of the class
    """dbt-spark's adapter where no engine is installed."""

    ConnectionManager = NoSessions


class NoEnginePlugin(dbtPlugin):
    """Stands in for the plugin where pyspark cannot be used: dbt imports all plugins, for projects of any adapter."""

    def initialize(self) -> None:
        """Run when dbt loads its plugins, for any project and command."""
        dbt.adapters.spark.Plugin.adapter = SparkAdapter
