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
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

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
    """Sum the bytes of the local files that a path or glob leads to; counting stops above `limit`.

    Returns:
        The bytes; infinite if they cannot be counted: a remote path, too many files, or an empty match.
    """
    try:
        return _measure(path, limit)
    except (OSError, ValueError):
        return float("inf")


def _measure(path: str, limit: int) -> float:
    if urlsplit(path).scheme not in ("", "file"):
        return float("inf")
    path = path.removeprefix("file://").removeprefix("file:")
    size, files = 0.0, 0
    for place in [path] if Path(path).exists() or not has_magic(path) else glob(path):
        for file in [Path(place)] if Path(place).is_file() else Path(place).rglob("*"):
            files += 1
            size += file.stat().st_size if file.is_file() else 0
            if files > _MAX_FILES or size > limit:
                return float("inf")
    return size if files else float("inf")
