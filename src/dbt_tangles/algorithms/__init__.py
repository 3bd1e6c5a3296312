"""The algorithms of tangles, timelines, sets, bases and private groups: kernels on arrays, without Spark.

Each subpackage serves the models of one kind of graph: `graph` computes membership, depth and order of tangles,
`timeline` the ScuttleSort order, `set` the reduction of pzp sets, `autobase` the order and the quorums of bases,
`private_group` epochs and members. `structures` holds their shared data structures. A dbt Python model calls the module
`*_batches` of its subpackage, which converts Arrow batches of whole groups to arrays and back.
"""
