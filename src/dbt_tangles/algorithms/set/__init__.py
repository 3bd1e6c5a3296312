"""Reduces pzp sets (set CRDTs over feed tangles): items, item roots, faults of writers, and what pruning may remove.

`set_batches.reduce_entries`, the kernel of a model, judges the messages of many whole sets, and `reduction.reduce_sets`
reduces those that are valid or held. The other modules work on arrays. There, a message is its place: the messages of a
set are neighbours, and within a set they stand in reduction order (declared depth, then collated id), so that every
link leads to a lower number.

Source: pzp-set, protospec.md; pzp-set 1.0.1, pzp-db 1.0.4, pzp-goals 1.0.1.
"""

from dbt_tangles.algorithms.set.reduction import reduce_sets
from dbt_tangles.algorithms.set.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA

__all__ = ["INPUT_SCHEMA", "OUTPUT_SCHEMA", "reduce_sets"]
