"""Graphs of hash-linked nodes: who is in, how deep, and in which order.

This layer knows nothing of any log format. A system hands it candidates with their graph, their id and the ids they
list as previous, and takes back levels and orders:

* `walk_graphs` works on an Arrow table that holds many whole graphs, as Spark's `mapInArrow` delivers them;
* `ancestor_pairs` and `author_clocks` list what each member follows, in batches of bounded size;
* `root_causes` says of those that are set aside where the trouble upstream begins;
* the modules below (`identity`, `links`, `levels`, `orders`, `redundancy`) are the same on arrays.
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
