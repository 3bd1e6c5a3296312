"""The choice of the session: a notebook's, a Spark Connect server's, or an error if Python models lack one.

The server is Sail's, in a separate process; it speaks Spark Connect like Spark's own.
"""

import json
import os
import subprocess
import sys

import pytest

from conftest import TESTS
from dbt_process import run_python
from dbt_spark_python.session import environment
from plugin_projects import make_project

SERVER = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print("sc://{}:{}".format(*server.listening_address), flush=True)
sys.stdin.read()
"""

NOTEBOOK = """
import json, sys
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

builder = SparkSession.builder
builder = builder.remote(sys.argv[1]) if sys.argv[1].startswith("sc:") else builder.master(sys.argv[1])
spark = builder.getOrCreate()
spark.sql("select 42 as answer").createOrReplaceTempView("made_in_a_cell")
done = dbtRunner().invoke(["run", *sys.argv[2:]])
print(json.dumps([r.message for r in done.result if r.status == "error"]))
print(json.dumps(spark.conf.get("spark.sql.session.timeZone")))
print(json.dumps([list(row) for row in spark.table("s.looks").collect() + spark.table("s.asks").collect()]))
"""

MODELS = {
    # From here on, a project without Python models would work as well.
    "looks.py": "def model(dbt, spark):\n    return spark.table('made_in_a_cell')\n",
    "asks.sql": "{{ config(materialized='table') }} select answer + 1 as answer from {{ ref('looks') }}",
}


@pytest.fixture
def server(tmp_path):
    """The address of a Spark Connect server."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    quiet = {**os.environ, "RUST_LOG": "error"}
    with subprocess.Popen([sys.executable, "-c", SERVER], env=quiet, cwd=tmp_path, **pipes) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def run(code: list[str], target: str, folder, **variables) -> subprocess.CompletedProcess:
    """Run dbt on a project, in a separate process."""
    options = ["--project-dir", str(folder), "--profiles-dir", str(TESTS), "--target", target]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.run(
        [sys.executable, *code, *options, "--log-path", str(folder / "logs"), "--target-path", str(folder / "target")],
        env={**clean, "JAVA_HOME": "/nowhere", "NO_COLOR": "1", "DBT_SPARK_PYTHON_TEST_SCHEMA": "s", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
    )


def java() -> dict[str, str]:
    return {"JAVA_HOME": str(environment.HERE / "java_home"), environment.REAL_JAVA: str(environment.find_java())}


def check_notebook(place: str, folder, **variables) -> None:
    """Run dbt from Python with an open session: models see the views of cells, and cells the tables of models."""
    done = run(["-c", NOTEBOOK, place], "connect", make_project(folder / "p", MODELS), **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    failed, zone, rows = map(json.loads, done.stdout.splitlines()[-3:])
    assert zone == "Asia/Tokyo", "the profile's settings are made"
    assert (failed, rows) == ([], [[42], [43]])


def check_server(address: str, folder, **variables) -> None:
    """Build a project with SQL and Python models on SPARK_REMOTE; each reads the other's table."""
    models = MODELS | {"looks.py": "def model(dbt, spark):\n    return spark.sql('select 1 as answer')\n"}
    folder = make_project(folder / "p", models)
    done = run(["-m", "dbt.cli.main", "build"], "connect", folder, SPARK_REMOTE=address, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS=2" in done.stdout


@pytest.mark.sail
@pytest.mark.parametrize("check", [check_notebook, pytest.param(check_server, marks=pytest.mark.long)])
def test_a_session_on_a_server_of_sail(check, server, tmp_path):
    check(server, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("check", [check_notebook, check_server])
def test_a_session_on_spark_itself(check, tmp_path):
    check("local[1]", tmp_path, **java())


SQL_ALONE = """
from types import SimpleNamespace
from dbt_spark_python.session import connection
try:
    connection.python_session(SimpleNamespace(method="thrift"))
except connection.DbtRuntimeError as error:
    print(" ".join(str(error).split()))
"""


@pytest.mark.both
def test_python_models_need_spark_remote_beside_an_sql_server():
    """A separate session, with its tables out of reach, is not started."""
    clean = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
    done = run_python(SQL_ALONE, env=clean)
    assert "set SPARK_REMOTE to its address" in done.stdout, done.stderr
