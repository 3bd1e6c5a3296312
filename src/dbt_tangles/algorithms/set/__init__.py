"""Reduces pzp sets (set CRDTs over feed tangles): items, item roots, and the messages that pruning may remove.

`reduce_sets` takes an Arrow table with many whole sets; `set_batches.reduce_set_batches`, its caller, runs on the rows
of one Spark partition. The other modules are kernels on arrays. There, a message is its place: the messages of a set
are neighbours, and within a set they stand in reduction order.

Source: pzp-set, protospec.md; pzp-set 1.0.1, pzp-db 1.0.4, pzp-goals 1.0.1.
"""

from dbt_tangles.algorithms.set.reduction import reduce_sets
from dbt_tangles.algorithms.set.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA

__all__ = ["INPUT_SCHEMA", "OUTPUT_SCHEMA", "reduce_sets"]
