"""Differences on Sail; DBT_SPARK_PYTHON_TEST_ENGINE=sail runs the builds of all other tests on Sail."""

import json
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError

import pyarrow as pa
import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_process import run_python
from dbt_spark_python.engines import sail, sail_server
from dbt_spark_python.session.handle import SessionCursor
from plugin_projects import make_project


@pytest.mark.parametrize(
    ("found", "spark", "said"),
    [
        ("0.6.6", "4.2.1", "pysail 0.7 and pyspark before 4.3, and finds 0.6.6 and 4.2.1"),
        ("1.0.0", "4.2.1", "pysail 0.7 and pyspark before 4.3, and finds 1.0.0 and 4.2.1"),
        ("0.7.2", "4.3.0", "pysail 0.7 and pyspark before 4.3, and finds 0.7.2 and 4.3.0"),
        (None, "4.2.1", "which is not installed: pip install "),
    ],
)
def test_unsupported_versions_are_refused(found, spark, said, monkeypatch):
    def version(package):
        if found is None:
            raise PackageNotFoundError(package)
        return found

    monkeypatch.setattr(sail_server, "version", version)
    monkeypatch.setattr(sail_server.pyspark, "__version__", spark)
    with pytest.raises(sail_server.SailError, match=rf"{said}.*dbt-spark-python\[sail\]"):
        sail_server.check_installed()


SERVER = """
import glob, os, signal, sys
from dbt_spark_python.engines import sail_server
before = {**os.environ, "SPARK_CONNECT_MODE_ENABLED": "1"}  # as pyspark sets it
session = sail_server.connect({}, sys.argv[1])
print(sorted(before.items() ^ os.environ.items()))
print(session.sql("select 1").first()[0])
listening = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
mine = {os.readlink(fd) for fd in glob.glob("/proc/self/fd/*") if os.path.islink(fd)}
print({row[1].partition(":")[0] for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in mine})
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_the_server_is_local_and_ends_with_its_process(tmp_path):
    """It listens only on 127.0.0.1, ends if its process is killed, and child processes inherit no setting of it."""
    pytest.importorskip("pysail")
    done = run_python(SERVER, tmp_path)
    assert done.stdout.splitlines() == ["[]", "1", "{'0100007F'}"], done.stderr


BOUNDED = """
import json, os, sys
from dbt_spark_python.engines import sail_server
from dbt_spark_python.session.error_causes import explain

# One task at a time: of two, one may find that the other has all there is, and then its groups go nowhere.
settings = {"sail.execution.default_parallelism": "1", **json.loads(sys.argv[2])}
memory = int(sys.argv[3])
if memory:
    sail_server.machine_memory = lambda: memory
spark = sail_server.connect(settings, sys.argv[1])
many = "(select sha2(cast(id as string), 256) as k from range(1000000))"
print(spark.sql(f"select count(*) from (select k from {many} group by k)").first()[0])
try:
    print(spark.sql(f"select count(*) from {many} join {many} using (k)").first()[0])
except Exception as error:
    print(explain(str(error)).partition(" (")[0])
"""
MOST = "sail.runtime.memory_pool.greedy.max_size"
REFUSED = "Sail reached its memory limit"


@pytest.mark.parametrize(
    ("settings", "memory", "joined"),
    [
        pytest.param({}, 0, "1000000", id="this machine's memory", marks=pytest.mark.long),
        pytest.param({}, 100_000_000, REFUSED, id="a machine with little"),
        pytest.param({MOST: "60000000"}, 0, REFUSED, id="a setting of the user's", marks=pytest.mark.long),
    ],
)
def test_the_memory_of_queries_is_bounded(settings, memory, joined, tmp_path):
    """Too many groups spill to files, and a join that is too large fails with a remedy."""
    pytest.importorskip("pysail")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SAIL_")}
    join = partial(run_python, BOUNDED, tmp_path, json.dumps(settings), memory, timeout=60, env=clean)
    try:
        done = join()
    except subprocess.TimeoutExpired:  # rarely, as memory is short: apache/datafusion#24883
        done = join()
    assert done.stdout.splitlines() == ["1000000", joined], done.stderr


SLOW = """
import sys, time
from functools import partial
from pyspark.sql.connect.client import core

if hasattr(core, "RpcDeadlines"):  # as if ten minutes were one second
    core.RpcDeadlines = partial(core.RpcDeadlines, reattachable_execute_plan=1.0, reattach_execute=1.0)

from dbt_spark_python.engines import sail_server

def wait(batches):
    for batch in batches:
        time.sleep(3)
        yield batch

spark = sail_server.connect({}, sys.argv[1])
rows = spark.range(0, 3, 1, 1).mapInArrow(wait, "id bigint")
print(rows.count())
rows.write.parquet(sys.argv[1] + "/rows")
print(spark.read.parquet(sys.argv[1] + "/rows").count())
"""


@pytest.mark.long
def test_long_statements_complete(tmp_path):
    pytest.importorskip("pysail")
    done = run_python(SLOW, tmp_path)
    assert done.stdout.splitlines() == ["3", "3"], done.stderr


LEFT_RUNNING = """
import tempfile, threading, time
from dbt_spark_python.engines import sail_server

def wait(batches):
    for batch in batches:
        for _ in range(600):
            time.sleep(0.1)
        yield batch

spark = sail_server.connect({}, tempfile.mkdtemp())
rows = spark.range(1).repartition(1).mapInArrow(wait, "id bigint")
threading.Thread(target=rows.collect, daemon=True).start()
time.sleep(3)
print("over")
"""


@pytest.mark.sail
def test_a_process_ends_though_a_function_runs():
    done = run_python(LEFT_RUNNING, timeout=40)
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr


@pytest.mark.both
@pytest.mark.skipif((os.cpu_count() or 1) == 1, reason="with one core there is one partition")
def test_rows_are_gathered_by_key_in_several_partitions(spark):
    def tell(batches):
        ids = [id for batch in batches for id in batch.column("id").to_pylist()]
        yield pa.RecordBatch.from_pydict({"ids": pa.array([ids], pa.list_(pa.int64()))})

    if not sail.is_sail(spark):  # Spark would coalesce small partitions
        spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    rows = spark.range(300).selectExpr("id % 100 as id")
    parts = [row.ids for row in sail.gather(rows, "id").mapInArrow(tell, "ids array<bigint>").collect()]
    if not sail.is_sail(spark):
        spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")
    parts = [ids for ids in parts if ids]
    assert len(parts) > 1
    assert sorted(id for ids in parts for id in {*ids}) == list(range(100))


@pytest.mark.both
@pytest.mark.parametrize("rows_before", [0, 5])
def test_errors_reach_the_client(spark, rows_before):
    """Also after the first rows were sent, so that a partial result never passes as complete."""

    def fail(batches):
        for batch in batches:
            yield batch.slice(0, rows_before)
        raise ValueError("no more of them")

    with pytest.raises(Exception, match="no more of them"):
        spark.range(0, 10, numPartitions=1).mapInArrow(fail, "id bigint").collect()


@pytest.mark.sail
def test_a_query_is_sent_once(spark, monkeypatch):
    """Its columns come with its rows; statements with effects are sent as statements."""
    connection, client, sent = SessionCursor(spark), spark.client, []
    for name in ("_execute_and_fetch", "_analyze"):
        call = getattr(client, name)

        def noted(*given, name=name, call=call, **more):
            sent.append(name)
            return call(*given, **more)

        monkeypatch.setattr(client, name, noted)
    connection.execute("/* dbt */ with a as (select 1 as x, 'b' as y) select * from a")
    assert [column[:2] for column in connection.description] == [("x", "int"), ("y", "string")]
    assert [tuple(row) for row in connection.fetchall()] == [(1, "b")]
    assert sent == ["_execute_and_fetch"]
    with pytest.raises(DbtRuntimeError, match="nowhere"):
        connection.execute("select 1 from nowhere")
    connection.execute("create or replace temporary view v as select 2 as x")
    connection.execute("select x from v")
    assert [row.x for row in connection.fetchall()] == [2]


@pytest.mark.sail
def test_hooks_run_after_the_first_failure(project, tmp_path, capfd):
    """With `--fail-fast` dbt cancels all connections, as it does after Ctrl-C, and then runs the hooks."""
    table = "{{ config(materialized='table') }} select "
    later = f"{table}1 as x -- {{{{ ref('wrong') }}}}"
    models = {"wrong.sql": f"{table}raise_error('it fails') as failed", "later.sql": later}
    folder = make_project(tmp_path / "project", models)
    with (folder / "dbt_project.yml").open("a") as file:
        file.write("on-run-end: [select 1]\n")
    assert not project("fail_fast", folder).invoke("run", "--fail-fast").success
    said = capfd.readouterr().out
    assert "it fails" in said and "1 of 1 OK hook: plugin.on-run-end.0" in said, said


@pytest.mark.sail
def test_persist_docs_is_skipped(project, tmp_path, capfd):
    """A run says once that Sail cannot store descriptions, and builds the tables and views without them."""
    models = {
        "rows.sql": "{{ config(materialized='table') }} select 1 as id",
        "seen.sql": "select * from {{ ref('rows') }}",
        "made.py": "def model(dbt, spark):\n    return dbt.ref('rows')\n",
    }
    columns = [{"name": "id", "description": "the row's id"}]
    described = [{"name": name[:4], "description": f"it's {name}", "columns": columns} for name in models]
    folder = make_project(tmp_path / "p", models | {"described.yml": json.dumps({"models": described})})
    with (folder / "dbt_project.yml").open("a") as settings:
        settings.write("  +persist_docs: {relation: true, columns: true}\n")
    made = project("described", folder)
    for _ in range(2):
        made.build()
        assert capfd.readouterr().out.count("persist_docs is skipped: Sail cannot store descriptions") == 1
    assert made.rows("made") == [{"id": 1}]
