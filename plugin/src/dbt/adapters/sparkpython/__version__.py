"""The version that `dbt --version` shows."""

from dbt_spark_python import __version__ as version

__all__ = ["version"]
