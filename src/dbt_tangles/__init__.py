"""Compiled kernels, wire formats and command line of the `tangles` dbt project, without Spark."""


def progress_line(since: float) -> str | None:
    """Report kernels that are being compiled, for the progress line of `dbt_spark_python`.

    Args:
        since: Start of the model, in seconds since 1970.

    Returns:
        The text; None if no kernel is being compiled.
    """
    from dbt_tangles.kernel_runtime.code_cache import compiling_line

    return compiling_line(since)
