"""Runs dbt, or other code, in its own process, as users start it."""

import os
import subprocess
import sys
from contextlib import contextmanager

from conftest import TESTS


def run_python(code, *arguments, timeout=120, **options):
    """Run code in another Python process; return the finished process with its output."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


#: A server of Spark Connect; it prints its process id and its address.
SAIL_SERVER = """
import os, sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(os.getpid(), "sc://{}:{}".format(*server.listening_address), flush=True)
sys.stdin.read()
"""


#: The environment variables that the profile reads, by the names that tests give them.
PLACES = {
    "warehouse": "DBT_SPARK_PYTHON_TEST_WAREHOUSE",
    "most": "DBT_SPARK_PYTHON_TEST_SMALL",
    "wait": "DBT_SPARK_PYTHON_TEST_LOCK_WAIT",
}


@contextmanager
def started(code, **options):
    """Run code in another Python process until the block ends; yield the words of the first line that it prints."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    quiet = {**os.environ, "RUST_LOG": "error"}
    with subprocess.Popen([sys.executable, "-c", code], env=quiet, **pipes, **options) as process:
        yield process.stdout.readline().split()
        process.stdin.close()


def run(folder, project, arguments, environment, profiles=TESTS, code=("-m", "dbt.cli.main")):
    """Run dbt in its own process, with its files below `folder` and without Spark's settings of this process."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    places = ["--project-dir", project, "--profiles-dir", profiles, "--log-path", folder / "logs"]
    places += ["--target-path", folder / "target"] if arguments[0] not in ("debug", "deps") else []
    given = {PLACES.get(name, name): str(value) for name, value in environment.items()}
    return subprocess.run(
        [sys.executable, *code, *arguments, *places],
        env={**own, "NO_COLOR": "1", "DBT_SPARK_PYTHON_TEST_SCHEMA": "s", **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
    )


def dbt(project, *arguments, code=0, profiles=TESTS, **environment):
    """Run dbt on a small project and return its output."""
    done = run(project, project, arguments, environment, profiles)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
