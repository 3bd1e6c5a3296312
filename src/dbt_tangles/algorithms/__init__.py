"""The algorithms of feeds, tangles, timelines, sets, bases and private groups: kernels on arrays, without Spark.

Each subpackage serves the models of one kind of graph: `feed` follows the chains of feeds, `graph` computes membership,
depth and order of tangles, `timeline` the ScuttleSort order, `set` the reduction of pzp sets, `autobase` the order and
the quorums of bases, `private_group` epochs and members. `structures` holds their shared data structures. Most Python
models call the module `*_batches` of their subpackage, which converts Arrow batches of whole groups to arrays and back.
"""
