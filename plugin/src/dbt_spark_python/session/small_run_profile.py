"""Settings for runs over small inputs, for which Java compiles longer than Spark computes.

A profile turns them on, in its `server_side_parameters`:

    spark.dbt.small.inputs: my_log, my_other_log       # the vars that hold the paths of inputs
    spark.dbt.small.bytes: 4000000                     # the largest total size of a small run
    spark.dbt.small.java: -XX:TieredStopAtLevel=1      # options of the JVM, if one is started
    spark.dbt.small.spark.sql.shuffle.partitions: 2    # and any setting of Spark behind `spark.dbt.small.`

A run is small if every one of these vars that is set leads to files on this machine, and their stored sizes add up to
at most that many bytes. Inputs that cannot be measured count as large. Unit tests, which have few rows, use the
settings in every run, apart from the JVM's options.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dbt_spark_python.input_files import find_files

PREFIX = "spark.dbt.small."

_MAX_FILES = 1000


class SmallRun(NamedTuple):
    """The settings of a small run: JVM options, Spark settings, and whether the current run is small."""

    java: str
    settings: dict[str, str]
    is_run: bool = True


def take_settings(parameters: dict[str, Any], variables: Mapping[str, Any]) -> SmallRun | None:
    """Remove the keys of this module from a profile's parameters.

    Args:
        parameters: The profile's `server_side_parameters`; changed in place.
        variables: dbt's vars: values, and mappings of values under the names of packages.

    Returns:
        The settings, if the profile has any.
    """
    found = {key.removeprefix(PREFIX): str(parameters.pop(key)) for key in [*parameters] if key.startswith(PREFIX)}
    if "inputs" not in found or "bytes" not in found:
        return None
    wanted, limit = {name.strip() for name in found.pop("inputs").split(",")}, int(found.pop("bytes"))
    scopes = [variables, *(scope for scope in variables.values() if isinstance(scope, Mapping))]
    paths = {str(scope[name]) for scope in scopes for name in wanted & scope.keys() if scope[name] is not None}
    return SmallRun(found.pop("java", ""), found, sum(measure(path, limit) for path in paths) <= limit)


def measure(path: str, limit: int) -> float:
    """Sum the bytes of the local files that a path or glob leads to.

    Returns:
        The bytes; infinite if they exceed `limit` or cannot be counted: the path is remote, or leads to no file or to
        too many.
    """
    try:
        files = find_files(path, "the input").files
    except (OSError, ValueError):
        return float("inf")
    size = sum(size for _, size in files)
    return size if size <= limit and len(files) <= _MAX_FILES else float("inf")
