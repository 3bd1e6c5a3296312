"""The runtime of kernels: Arrow batches in and out, interpretation or compilation, the cache of machine code.

Algorithms and formats import this package. It is independent of tangles and messages.
"""
