"""Sets that grow as tangles (pzp sets): what is in them, and which messages are still needed.

`reduce_sets` takes an Arrow table that holds many whole sets, as Spark's `mapInArrow` delivers them. The modules below
are the same on arrays. There, a message's number is its place: the messages of a set are neighbours, and within a
set they stand in reduction order.
"""

from dbt_tangles.algorithms.set.reduction import reduce_sets
from dbt_tangles.algorithms.set.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA

__all__ = ["INPUT_SCHEMA", "OUTPUT_SCHEMA", "reduce_sets"]
