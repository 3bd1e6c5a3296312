"""The algorithms of tangles, timelines, sets, bases and private groups: kernels on arrays that know no Spark.

Each subpackage serves the models of one kind of graph: `graph` gives membership, depth and order of tangles, `timeline`
the ScuttleSort order, `set` the reduction of pzp sets, `autobase` the order and the quorums of bases, `private_group`
epochs and members. `structures` holds the data structures that they share. A dbt Python model calls the module
`*_batches` of its subpackage, which turns Arrow batches of whole groups into arrays and back.
"""
