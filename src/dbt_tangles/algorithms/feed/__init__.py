"""Follows the feeds of authors: the classic feed tangle of Secure Scuttlebutt.

`chains.chains_of_partition` runs on the rows of a Spark partition; `tangles lint` calls `chains.chain_batches`.
"""
