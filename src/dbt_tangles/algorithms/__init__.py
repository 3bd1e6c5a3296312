"""The algorithms of feeds, tangles, timelines, sets, bases and private groups: kernels on arrays, without Spark.

Each subpackage serves the models of one kind of graph: `feed` follows the chains of feeds, `graph` computes membership,
depth and order of tangles, `timeline` the ScuttleSort order, `set` the reduction of pzp sets, `autobase` the order and
the quorums of bases, `private_group` epochs and members. `structures` holds their shared data structures. A Python
model calls one function of its subpackage, most often a kernel as `kernel_runtime.kernel` describes it: rows of whole
groups in, rows out.
"""
