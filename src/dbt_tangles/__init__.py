"""Kernels of the tangles project: pure functions on arrays, no Spark."""

from __future__ import annotations


def progress_line(since: float) -> str | None:
    """Say what takes long besides the work itself, for the line of progress of `dbt_spark_python`.

    Args:
        since: When the model began, in seconds since 1970.

    Returns:
        That kernels are being compiled, and which; None where none is.
    """
    from dbt_tangles.kernel_runtime.compile_progress import compiling_line  # numba takes a second to import

    return compiling_line(since)
