"""Autobase: orders the logs of many writers, and finds the confirmed part of the order, which every replica shares.

`results` takes Arrow tables with many whole bases. `bases` numbers their nodes, and the other modules are kernels on
the arrays of `base_graphs`.

Terms: a node acknowledges a node that it descends from; an indexer's nodes count as votes; a node is settled
(confirmed) once no replica can order it otherwise; a tail is a first unsettled indexer node; a merge joins branches.

Source: the design document of Autobase; autobase 7.28.1, which differs from it (`consensus` follows the package,
`design` the document).
"""
