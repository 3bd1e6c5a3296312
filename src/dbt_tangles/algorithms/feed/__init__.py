"""Follows the feeds of authors: the classic feed tangle of Secure Scuttlebutt.

`chains.chains_of` runs on the rows of a Spark partition; `tangles lint` calls `chains.chain_batches`.
"""
