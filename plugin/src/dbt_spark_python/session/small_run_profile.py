"""Settings for runs over small inputs, for which Java compiles longer than Spark computes.

A profile turns them on, in its `server_side_parameters`:

    spark.dbt.small.inputs: my_log, my_other_log       # the vars that hold the paths of inputs
    spark.dbt.small.bytes: 4000000                     # the largest total size of a small run
    spark.dbt.small.java: -XX:TieredStopAtLevel=1      # options of the JVM, if one is started
    spark.dbt.small.spark.sql.shuffle.partitions: 2    # and any setting of Spark behind `spark.dbt.small.`

A run is small if every one of these vars that is set leads to files on this machine, and their stored sizes add up to
at most that many bytes. Inputs that cannot be measured count as large.
"""

from collections.abc import Mapping
from typing import Any

from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.input_files import find_files

PREFIX = "spark.dbt.small."
JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_added: set[str] = set()  # the settings that the previous command of this process added


def apply(parameters: dict[str, Any], variables: Mapping[str, Any]) -> None:
    """Take the keys of this module out of a command's parameters, in place; if the run is small, add the settings.

    dbt's vars are values, and mappings of values under the names of packages.
    """
    found = {key.removeprefix(PREFIX): str(parameters.pop(key)) for key in [*parameters] if key.startswith(PREFIX)}
    if "inputs" not in found or "bytes" not in found:
        return
    names, limit = {name.strip() for name in found.pop("inputs").split(",")}, int(found.pop("bytes"))
    scopes = [variables, *(scope for scope in variables.values() if isinstance(scope, Mapping))]
    paths = {str(scope[name]) for scope in scopes for name in names & scope.keys() if scope[name] is not None}
    if sum(map(measure, paths)) > limit:
        found = {}
    if java := found.pop("java", ""):
        parameters[JAVA_OPTIONS] = " ".join(filter(None, [parameters.get(JAVA_OPTIONS), java]))
    if (session := find_session()) is not None:
        for name in _added - found.keys():
            session.conf.unset(name)
    _added.clear()
    _added.update(found)
    parameters.update(found)


def measure(path: str) -> float:
    """Sum the bytes of the local files that a path or glob leads to; infinite if it is remote or leads to no file."""
    try:
        return sum(size for _, size in find_files(path, "the input").files)
    except (OSError, ValueError):
        return float("inf")
