"""The choice of the session: a notebook's, a Spark Connect server's, or an error if Python models lack one.

The server is Sail's, in a separate process; it speaks Spark Connect like Spark's own.
"""

import json
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_process import SAIL_SERVER, dbt, run, started
from dbt_spark_python.session import connection, environment
from plugin_projects import make_project

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
    with started(SAIL_SERVER, cwd=tmp_path) as (_, address):
        yield address


def java() -> dict[str, str]:
    return {"JAVA_HOME": str(environment.HERE / "java_home"), environment.REAL_JAVA: str(environment.find_java())}


def check_notebook(place: str, folder, **variables) -> None:
    """Run dbt from Python with an open session: models see the views of cells, and cells the tables of models."""
    project, target = make_project(folder / "p", MODELS), ["--target", "connect"]
    done = run(project, project, target, {"JAVA_HOME": "/nowhere", **variables}, code=["-c", NOTEBOOK, place])
    assert done.returncode == 0, done.stdout + done.stderr
    failed, zone, rows = map(json.loads, done.stdout.splitlines()[-3:])
    assert zone == "Asia/Tokyo", "the profile's settings are made"
    assert (failed, rows) == ([], [[42], [43]])


def check_server(address: str, folder, **variables) -> None:
    """Build a project with SQL and Python models on SPARK_REMOTE; each reads the other's table."""
    models = MODELS | {"looks.py": "def model(dbt, spark):\n    return spark.sql('select 1 as answer')\n"}
    settings = {"JAVA_HOME": "/nowhere", "SPARK_REMOTE": address, **variables}
    assert "PASS=2" in dbt(make_project(folder / "p", models), "build", "--target", "connect", **settings)


@pytest.mark.sail
@pytest.mark.parametrize("check", [check_notebook, pytest.param(check_server, marks=pytest.mark.long)])
def test_a_session_on_a_server_of_sail(check, server, tmp_path):
    check(server, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("check", [check_notebook, check_server])
def test_a_session_on_spark_itself(check, tmp_path):
    check("local[1]", tmp_path, **java())


def test_python_models_need_spark_remote_beside_an_sql_server(monkeypatch):
    """A separate session, with its tables out of reach, is not started."""
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(connection, "_catalog", None)
    monkeypatch.setattr(connection, "find_session", lambda: None)
    with pytest.raises(DbtRuntimeError, match="set SPARK_REMOTE to its address"):
        connection.python_session(SimpleNamespace(method="thrift"))
