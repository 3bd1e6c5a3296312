"""Settings for runs over little input, where Java spends more on compiling than Spark on the data.

A profile turns them on, in its `server_side_parameters`:

    spark.dbt.small.inputs: my_log, my_other_log       # the vars that name what is read
    spark.dbt.small.bytes: 4000000                     # the most that may be there
    spark.dbt.small.java: -XX:TieredStopAtLevel=1      # options of the JVM, if one is started
    spark.dbt.small.spark.sql.shuffle.partitions: 2    # and any setting of Spark behind `spark.dbt.small.`

Unit tests, whose rows are written by hand, have them in every run, but for those of the JVM.

A run is small if every one of these vars that is given leads to files on this machine, and all of them together have at
most that many bytes, as they are stored. Whatever cannot be measured is taken for large.
"""

from collections.abc import Mapping
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PREFIX = "spark.dbt.small."

_MAX_FILES = 1000


class Small(NamedTuple):
    """What is set in a small run: options of the JVM, and Spark's settings; and whether the run is one."""

    java: str
    settings: dict[str, str]
    is_run: bool = True


def take(parameters: dict[str, Any], variables: Mapping[str, Any]) -> Small | None:
    """Take the keys out of a profile's parameters.

    Args:
        parameters: The profile's `server_side_parameters`; changed.
        variables: dbt's vars: values, and below the names of packages theirs.

    Returns:
        What is to be set, or None where the profile has nothing of this.
    """
    found = {key.removeprefix(PREFIX): str(parameters.pop(key)) for key in [*parameters] if key.startswith(PREFIX)}
    if "inputs" not in found or "bytes" not in found:
        return None
    wanted, limit = {name.strip() for name in found.pop("inputs").split(",")}, int(found.pop("bytes"))
    scopes = [variables, *(scope for scope in variables.values() if isinstance(scope, Mapping))]
    paths = {str(scope[name]) for scope in scopes for name in wanted & scope.keys() if scope[name] is not None}
    return Small(found.pop("java", ""), found, sum(measure(path, limit) for path in paths) <= limit)


def measure(path: str, limit: int) -> float:
    """Count the bytes of what a path or glob leads to on this machine, up to somewhat more than `limit`.

    Returns:
        The bytes; infinite where they cannot be counted: elsewhere, too many files, or none.
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
