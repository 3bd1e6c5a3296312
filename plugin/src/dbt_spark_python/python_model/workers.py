"""The config `packages` of models: checked here and, before models run on a cluster, on its workers."""

import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.exceptions import DbtRuntimeError
from packaging.requirements import InvalidRequirement, Requirement
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.python_model import probe, write
from dbt_spark_python.python_model.ship_packages import PACKED, is_local
from dbt_spark_python.session import connection
from dbt_spark_python.session.progress import repeated_lines

# The module is sent to the workers by value, because they may lack this package.
cloudpickle.register_pickle_by_value(probe)

#: The number of probing tasks, which Spark spreads over idle executors.
LOOKS = 16


def check(credentials: SparkCredentials, configs: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a run if its Python models lack a session, or if a worker lacks one of their packages.

    Args:
        credentials: The profile's credentials.
        configs: The configs of the selected Python models.

    Raises:
        DbtRuntimeError: The message names the packages and the worker.
    """
    if not configs:
        return
    spark = connection.python_session(credentials)
    wanted = list(dict.fromkeys(text for config in configs for text in write.as_list(config.get("packages"))))
    check_here(wanted)
    if not is_local(spark):
        refuse(wanted, reports(spark, wanted))


def check_here(packages: Iterable[str]) -> None:
    """Refuse a model whose requirements, in pip's notation, this environment lacks; they are never installed.

    Raises:
        DbtRuntimeError: Some are missing or have an unsuitable version; the message names them and the remedy.
    """
    if missing := {text: fault for text in packages if (fault := _fault_of(text))}:
        listed = ", ".join(f"{text} ({fault})" for text, fault in missing.items())
        quoted = " ".join(f"'{text}'" for text in missing)
        raise DbtRuntimeError(
            f"this environment lacks some of the model's `packages`: {listed}. "
            f"Install them, because the submission method `session` does not: pip install {quoted}"
        )


def _fault_of(text: str) -> str | None:
    """Return why one requirement is not met; None if it is met or does not apply."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement as error:
        fault = str(error).partition("\n")[0]  # the next lines point at the place
        raise DbtRuntimeError(
            f"the model's `packages` has {text!r}, which is not a valid requirement: {fault}. Write a name with an "
            f"optional version, as pip takes it: 'numpy>=2'"
        ) from None
    if wanted.marker and not wanted.marker.evaluate():
        return None
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return "not installed"
    return None if wanted.specifier.contains(found, prereleases=True) else f"{found} is installed"


def reports(spark: SparkSession, wanted: Iterable[str]) -> list[dict]:
    """Collect the workers' reports on packages.

    Raises:
        DbtRuntimeError: The workers cannot run Python, or only another version.
    """
    names = [Requirement(text).name for text in wanted]
    # Pickled instead of Arrow, because pyarrow itself may be missing.
    look = sf.udf(partial(probe.look, names), "string", useArrow=False)
    try:
        with repeated_lines(lambda seconds: [f"waiting for the cluster's workers, {seconds:.0f} s"]):
            rows = spark.range(0, LOOKS, 1, LOOKS).select(look("id").alias("said")).distinct().collect()
    except Exception as error:
        raise DbtRuntimeError(
            f"the workers cannot run dbt's Python models: {cause_of(str(error))}. Install Python "
            f"{'.'.join(platform.python_version_tuple()[:2])} on each worker, and set PYSPARK_PYTHON to its path"
        ) from error
    return [json.loads(said) for said in sorted(row["said"] for row in rows)]


def refuse(wanted: Sequence[str], found: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error if a worker lacks a package.

    Raises:
        DbtRuntimeError: The message names the packages, the worker and the remedy.
    """
    for report in found:
        if report["faults"]:
            listed = ", ".join(f"{name} ({fault})" for name, fault in report["faults"].items())
            raise DbtRuntimeError(
                f"the Python models need packages that a worker lacks: {listed}; worker {report['host']}, "
                f"{report['python']}. Install them there, or send them with the job: python -m dbt_spark_python.pack "
                f"workers.zip {' '.join(wanted)}, and {PACKED}: workers.zip in the profile"
            )


def cause_of(message: str) -> str:
    """Extract the line of a Spark error that states the cause on a worker."""
    patterns = (
        r"\[PYTHON_VERSION_MISMATCH\].*",
        r"Cannot run program .*",
        r"^Error from python worker:\n\s*(.*)",
        r"^\w[\w.]*(?:Error|Exception): .*(?=\n\s*$)",
        r"^Caused by: .*",
    )
    for pattern in patterns:
        if found := re.findall(pattern, message, re.M):
            return found[-1].strip().removesuffix(".")
    return message.strip().splitlines()[0]
