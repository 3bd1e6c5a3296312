"""Reduces pzp sets (set CRDTs over feed tangles): items, item roots, faults of writers, and what pruning may remove.

`reduction.reduce_sets` takes an Arrow table with many whole sets; `set_batches.reduce_set_batches`, its caller, runs on
the rows of one Spark partition. The other modules work on arrays. There, a message is its place: the messages of a set
are neighbours, and within a set they stand in reduction order (declared depth, then collated id), so that every link
leads to a lower number.

Source: pzp-set, protospec.md; pzp-set 1.0.1, pzp-db 1.0.4, pzp-goals 1.0.1.
"""

from dbt_tangles.algorithms.set.reduction import reduce_sets
from dbt_tangles.algorithms.set.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA

__all__ = ["INPUT_SCHEMA", "OUTPUT_SCHEMA", "reduce_sets"]
