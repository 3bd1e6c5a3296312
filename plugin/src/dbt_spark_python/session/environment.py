"""Sets the environment variables that an embedded session's JVM reads at its start."""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from dbt_spark_python.session import engine, jvm

#: The root of the package, with the Java launcher and the logging settings.
HERE = Path(__file__).parent.parent

#: Derby's folder, inside the warehouse folder.
CATALOG = ".catalog"

# Spark's launchers split options like a shell; paths with other characters are not passed on.
_PLAIN = re.compile(r"[\w./@%+=,~-]+")


def prepare(environ: dict | None = None, java_options: str = "", needs_java: bool = True) -> None:
    """Set the workers' interpreter, the JVM and quiet logging, unless the user has set them.

    Args:
        environ: The environment to change (default: this process's).
        java_options: More options for a JVM that starts later; `spark.driver.extraJavaOptions` would come too late.
        needs_java: Whether a JVM will start.

    Raises:
        RuntimeError: A JVM is needed, and Spark is not installed, or Java is missing or too old.
    """
    environ = os.environ if environ is None else environ
    # By default Spark starts the first `python3` on the PATH, which may lack the project's packages.
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if not needs_java or "SPARK_REMOTE" in environ:  # with Spark Connect the JVM belongs to the server
        return
    if fault := engine.find_fault_of_spark():
        raise RuntimeError(fault)
    java = jvm.find(environ)
    environ[jvm.REAL_JAVA] = str(java)
    environ["JAVA_HOME"] = str(HERE / "java_home")
    options = f"-Dlog4j2.configurationFile={(HERE / 'log4j2.properties').as_uri()} {java_options}".strip()
    environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-java-options {shlex.quote(options)} pyspark-shell")


def catalog_option(parameters: Mapping[str, str]) -> str:
    """Return the JVM option that puts Derby, Spark's default catalog, beside the tables.

    Derby's default place is the current folder. Other metastores ignore the option.

    Args:
        parameters: The session's parameters; the option is empty unless they name a local warehouse folder.
    """
    place = parameters.get("spark.sql.warehouse.dir", "").removeprefix("file://")
    if not place or ":/" in place or not _PLAIN.fullmatch(place):
        return ""
    return f"-Dderby.system.home={Path(place).absolute() / CATALOG}"
