"""Graphs of hash-linked nodes: membership, depth and order (SSB improvement proposal "Tangles", "Specification").

The package is independent of log formats. Its kernels:

* `walk.walk` finds members, depths, orders, and the reasons and root causes of the other nodes;
* `ancestors.ancestor_pairs` and `clocks.author_clocks` list the ancestors of each member.

`topological_generations`, `causes`, `orders`, `concurrency` and `transitive_reduction` are the steps on arrays.
"""
