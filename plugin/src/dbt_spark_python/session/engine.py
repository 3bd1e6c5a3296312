"""Finds out whether an engine is installed, without importing pyspark.

Two distributions provide the module pyspark. `pyspark` is Spark itself with its jars; `pyspark-client` is its client
part, which is enough for Sail and Spark Connect. pip installs both together without a warning, and each overwrites
files of the other.
"""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.spark.impl import SparkAdapter

_SPARK = "pip install 'dbt-spark-python[spark]' (Spark and a JVM)"
_ALL = f"{_SPARK}, 'dbt-spark-python[sail]' (Sail, without a JVM) or 'dbt-spark-python[engines]' (both)"


def find_fault() -> str | None:
    """Return the reason why engines cannot run here, with the remedy, if there is one."""
    if _is_installed("pyspark") and _is_installed("pyspark-client"):
        return (
            "pyspark and pyspark-client are both installed, and each has overwritten files of the other: "
            f"pip uninstall pyspark pyspark-client, then {_ALL}"
        )
    if find_spec("pyspark") is None:
        return f"this environment has no engine: {_ALL}"
    return None


def find_fault_of_spark() -> str | None:
    """Return the reason why Spark itself cannot run in this process, with the remedy, if there is one."""
    if find_spec("pyspark.core") or find_spec("pyspark.context"):  # 4.0 and newer; older
        return None
    return (
        "the profile's target is Spark itself, and this environment has only its client: choose a target on Sail "
        "(spark.dbt.engine: sail in its server_side_parameters) or a server (SPARK_REMOTE), or pip uninstall "
        f"pyspark-client, then {_SPARK}"
    )


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


class NoSessions(SparkConnectionManager):
    """dbt-spark's connections, without sessions."""

    TYPE = "sparkpython"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection; a session raises an error that names the missing engine."""
        if connection.credentials.method == SparkConnectionMethod.SESSION:
            raise RuntimeError(find_fault())
        return super().open(connection)


class SparkPythonAdapter(SparkAdapter):  # dbt derives the adapter's module from the class name
    """Takes the adapter's place in an environment without an engine."""

    ConnectionManager = NoSessions
