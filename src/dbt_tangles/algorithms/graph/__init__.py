"""Graphs of hash-linked nodes: membership, depth and order (SSB improvement proposal "Tangles", "Specification").

The package is independent of log formats. Its input is candidates, each with a graph, an id and the ids it lists as
previous. Its output is depths and orders:

* `walk_graphs` takes an Arrow table of whole graphs, as Spark's `mapInArrow` delivers them;
* `ancestor_pairs` and `author_clocks` list the ancestors of each member, in batches of bounded size;
* `root_causes` finds, for each node that is set aside, the first faulty nodes upstream;
* `dense_ids`, `links`, `topological_generations`, `orders` and `transitive_reduction` are the steps on arrays.
"""

from dbt_tangles.algorithms.graph.ancestors import ANCESTOR_SCHEMA, ancestor_pairs
from dbt_tangles.algorithms.graph.causes import root_causes
from dbt_tangles.algorithms.graph.clocks import CLOCK_SCHEMA, author_clocks
from dbt_tangles.algorithms.graph.walk import DEPTH_SCHEMA, WALK_INPUT_SCHEMA, WALK_OUTPUT_SCHEMA, walk_graphs

__all__ = [
    "ANCESTOR_SCHEMA",
    "CLOCK_SCHEMA",
    "DEPTH_SCHEMA",
    "WALK_INPUT_SCHEMA",
    "WALK_OUTPUT_SCHEMA",
    "ancestor_pairs",
    "author_clocks",
    "root_causes",
    "walk_graphs",
]
