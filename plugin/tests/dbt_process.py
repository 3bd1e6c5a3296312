"""Runs dbt, or other code, in its own process, as users start it."""

import os
import subprocess
import sys

from conftest import TESTS


def run_python(code, *arguments, timeout=120, **options):
    """Run code in another Python process; return the finished process with its output."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


def run(folder, project, arguments, environment, profiles=TESTS):
    """Run dbt in its own process, with its files below `folder`."""
    places = ["--project-dir", project, "--profiles-dir", profiles, "--log-path", folder / "logs"]
    places += ["--target-path", folder / "target"] if arguments[0] not in ("debug", "deps") else []
    return subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", *arguments, *places],
        env={**os.environ, "NO_COLOR": "1", "DBT_SPARK_PYTHON_TEST_SCHEMA": "s", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
    )


#: The environment variables that the tests of this file set for the profile.
PLACES = {"warehouse": "DBT_SPARK_PYTHON_TEST_WAREHOUSE", "most": "DBT_SPARK_PYTHON_TEST_SMALL"}


def dbt(project, *arguments, code=0, profiles=TESTS, **environment):
    """Run dbt on a small project and return its output."""
    given = {PLACES.get(name, name): str(value) for name, value in environment.items()}
    done = run(project, project, arguments, given, profiles)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
