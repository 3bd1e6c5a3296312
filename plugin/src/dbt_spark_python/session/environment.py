"""What must be in the environment before the JVM of an embedded session starts."""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from dbt_spark_python.session import engine, jvm

#: The root of the package, where the launcher of Java and the logging settings are.
HERE = Path(__file__).parent.parent

#: The folder of Derby, below that of the tables.
CATALOG = ".catalog"

# Spark and Python's launcher take options apart at what a shell would; a path with more than this is left out.
_PLAIN = re.compile(r"[\w./@%+=,~-]+")


def prepare(environ: dict | None = None, java_options: str = "", needs_java: bool = True) -> None:
    """Set the workers' interpreter, the JVM and quiet logging, each only where the user has not.

    Args:
        environ: the environment to change (default: this process's).
        java_options: more options of a JVM that is yet to be started; `spark.driver.extraJavaOptions` would not count.
        needs_java: whether there is to be one.

    Raises:
        RuntimeError: a JVM is needed, and Spark is not installed, or the JVM found is too old, or none is found.
    """
    environ = os.environ if environ is None else environ
    # Without this Spark starts whatever `python3` is on the PATH, which knows none of our packages.
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if not needs_java or "SPARK_REMOTE" in environ:  # Spark Connect: the JVM is somebody else's
        return
    if fault := engine.find_fault_of_spark():
        raise RuntimeError(fault)
    java = jvm.find(environ)
    environ[jvm.REAL_JAVA] = str(java)
    environ["JAVA_HOME"] = str(HERE / "java_home")
    options = f"-Dlog4j2.configurationFile={(HERE / 'log4j2.properties').as_uri()} {java_options}".strip()
    environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-java-options {shlex.quote(options)} pyspark-shell")


def catalog_option(parameters: Mapping[str, str]) -> str:
    """The option of a JVM that puts Derby, Spark's catalog where it is set up with no other, beside the tables.

    Left alone it goes into the current folder. Whoever has a metastore has no Derby, and the option does nothing.

    Args:
        parameters: The session's; without a warehouse on this machine there is nothing to be beside.
    """
    place = parameters.get("spark.sql.warehouse.dir", "").removeprefix("file://")
    if not place or ":/" in place or not _PLAIN.fullmatch(place):
        return ""
    return f"-Dderby.system.home={Path(place).absolute() / CATALOG}"
