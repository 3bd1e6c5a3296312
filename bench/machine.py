"""The machine, the versions and the commit with which a figure was measured."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from dbt_spark_python.session import environment

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("dbt-core", "dbt-spark", "pyspark", "pyarrow", "numpy", "numba", "PyNaCl", "orjson")


def facts() -> dict:
    """Return the machine's processor, memory and load, and the versions of the main packages."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "revision": revision(),
        "versions": {
            "python": platform.python_version(),
            "java": environment.java_version(environment.find_java()),
            **{name.lower(): version(name) for name in PACKAGES},
        },
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def revision() -> str | None:
    """Return the commit, with a plus if files outside docs differ from it; figures are written into docs."""
    try:
        commit = _git("rev-parse", "--short=10", "HEAD")
        return commit + "+" * bool(_git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs"))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*command: str) -> str:
    answer = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    return answer.stdout.strip()
