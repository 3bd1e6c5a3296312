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

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.input_files import find_files
from dbt_spark_python.session.progress import is_connect

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


class SmallRuns:
    """The settings for small inputs that the commands of this process use, one command after another."""

    def __init__(self) -> None:
        self._parameters: dict | None = None  # of the last command
        self._small: SmallRun | None = None  # its settings for small inputs, if the profile has any
        self._of_unit_tests: SparkSession | None = None  # a second session, which always has them
        self._added: set[str] = set()  # the settings that the previous command added
        self._opening = threading.Lock()

    def read(self, parameters: dict[str, Any], variables: Mapping[str, Any]) -> None:
        """Read the settings of the next command; a second call for the same command does nothing."""
        if parameters is not self._parameters:
            self._parameters, self._small = parameters, take_settings(parameters, variables) if parameters else None

    def settings_of(self, parameters: dict[str, str]) -> SmallRun:
        """Return the settings that a small command adds; empty for other commands."""
        small = self._small
        return small if small and small.is_run and parameters is self._parameters else SmallRun("", {})

    def apply(self, parameters: dict[str, str], session: SparkSession | None) -> None:
        """Add the settings to a command's parameters; take those of the previous command from an open session."""
        settings = self.settings_of(parameters).settings
        if session is not None:
            for name in self._added - settings.keys():
                session.conf.unset(name)
        self._added = set(settings)
        parameters.update(settings)

    def unit_test_session(self) -> SparkSession | None:
        """Return the session for unit tests; None if they share the process's session."""
        main = find_session()
        if self._small is None or main is None or is_connect(main):
            return None
        with self._opening:
            if self._of_unit_tests is None or self._of_unit_tests.sparkContext is not main.sparkContext:
                self._of_unit_tests = main.newSession()
                configure(self._of_unit_tests, self._small.settings)
        return self._of_unit_tests


#: Those of this process.
SMALL_RUNS = SmallRuns()


def configure(session: SparkSession, parameters: Mapping[str, Any]) -> None:
    """Apply a profile's settings to an existing session, except those that only a new session accepts."""
    for name, value in parameters.items():
        with suppress(PySparkException):
            session.conf.set(name, value)
