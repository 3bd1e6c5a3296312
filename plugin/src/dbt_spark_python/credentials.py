"""The profile of an adapter of type `sparkpython`."""

from dataclasses import dataclass

from dbt.adapters.spark.connections import SparkCredentials


@dataclass
class SparkPythonCredentials(SparkCredentials):
    """dbt-spark's credentials under the adapter's own type."""

    @property
    def type(self) -> str:
        """Return the type that the profile names."""
        return "sparkpython"
