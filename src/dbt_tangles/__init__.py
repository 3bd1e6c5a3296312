"""Kernels of the tangles project: pure functions on arrays, no Spark."""
