"""The profile of an adapter of type `sparkpython`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark.connections import SparkCredentials


@dataclass
class SparkPythonCredentials(SparkCredentials):
    """dbt-spark's credentials under the adapter's own type."""

    @property
    def type(self) -> str:
        """Return the type that the profile names."""
        return "sparkpython"

    def connection_info(self, *, with_aliases: bool = False) -> Iterator[tuple[str, Any]]:
        """Yield what `dbt debug` prints: dbt-spark's settings, the engine, and the folder of the warehouse."""
        yield from super().connection_info(with_aliases=with_aliases)
        parameters = self.server_side_parameters or {}
        yield "method", self.method
        yield "engine", parameters.get("spark.dbt.engine", "spark")
        yield "warehouse", parameters.get("spark.dbt.warehouse")
