"""A cluster of two workers on this machine: its tables equal those of one process, also after kills."""

import os
import runpy
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from conftest import DATA, ROOT
from dbt_spark_python import pack
from tests.cluster import faults, servers
from tests.cluster.build import Build
from tests.cluster.catching import Catching
from tests.cluster.fault_injection import GRAPHS, LINES, Fault, Scene, kill_driver, kill_executor
from tests.cluster.servers import Cluster, ServerError, marked
from tests.cluster.tables import differences, leftovers, made_by, names_of

pytestmark = pytest.mark.spark

#: Models in SQL, SQL rounds, and Python models that verify lines and walk graphs.
SELECTED = "+tangle_messages"
#: The first fault kills dbt while it reads lines; the second kills executors of the next build. Other faults are slow.
KILLED = [
    Fault("driver", "dbt and its driver", [LINES], kill_driver, kills_driver=True),
    Fault("executor", "executors", [LINES, GRAPHS], kill_executor),
]
VARIABLES = {"ssb_log": str(DATA / "ssb" / "small.jsonl")}
#: The packages of Python models.
PACKAGES = ["numba", "numpy", "orjson", "pyarrow", "PyNaCl", "rfc8785", "zstandard"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def catching(folder):
    return Catching(folder / "caught")


@pytest.fixture(scope="module")
def cluster(folder, catching):
    defaults = {**faults.QUICK, **catching.settings(), "spark.sql.shuffle.partitions": "2"}
    with Cluster(folder / "servers", defaults) as started:
        yield started
    assert marked(started.mark) == []


def build(cluster: Cluster, folder: Path, name: str, **environ: str) -> Build:
    places = {"SPARK_MASTER": cluster.master, "TANGLES_WAREHOUSE": str(folder / name / "warehouse")}
    environment = cluster.environ(NO_COLOR="1", **places, **environ)
    return Build(name, folder, "cluster", environment, ("run", "--select", SELECTED), VARIABLES)


@pytest.mark.parametrize("killed", [KILLED[1:], pytest.param(KILLED, marks=pytest.mark.long)], ids=len)
def test_tables_equal_those_of_one_process(cluster, catching, folder, project, killed):
    """After kills every row is written once, and temporary files are removed, also from the start folder of dbt."""
    name = f"built_{len(killed)}"
    for fault in killed:
        with build(cluster, folder, name) as built:
            faults.strike(fault, Scene(cluster, built, catching), fault.models)
    here = project("one_machine", **VARIABLES)
    here.run("--select", SELECTED)
    warehouse = folder / name / "warehouse"
    assert {"stg_ssb__lines", "int_tangle_depths", "int_tangle_levels"} <= names_of(warehouse)
    assert differences(warehouse, here.warehouse, wanted_schema=here.schema) == []
    assert leftovers(warehouse, made_by(built)) == []
    assert not {"metastore_db", "derby.log", "spark-warehouse"} & {*os.listdir(folder / name)}


PORT_ATTACKS = runpy.run_path(str(ROOT / "plugin" / "tests" / "port_attacks.py"))
CLIENT = """
import sys
from pyspark.sql import SparkSession
print(SparkSession.builder.remote(sys.argv[1]).getOrCreate().sql("select 41 + 1").first()[0])
"""


def test_another_user_is_refused_by_the_master_and_the_workers(cluster):
    """Each process has one port with Spark's protocol, which requires the secret, and one read-only page."""
    assert (cluster.folder / "conf").stat().st_mode & 0o777 == 0o700
    for process in cluster.started:
        assert cluster._secret not in Path(f"/proc/{process.pid}/cmdline").read_text()
        said = PORT_ATTACKS["ask_jvm"](process.pid)
        asks = ["Expected SaslMessage" in answer for answer in said]
        assert sum(asks) == 1, said
        assert all(is_asked or answer.startswith("HTTP/1.1 400") for is_asked, answer in zip(asks, said, strict=True))


def test_another_user_is_refused_by_a_connect_server(cluster, folder):
    pytest.importorskip("grpc")
    address = cluster.start_connect(folder / "connect" / "warehouse")
    try:
        target = address.removeprefix("sc://")
        assert PORT_ATTACKS["ask_connect"]([target], folder / "any") == {target: "UNAUTHENTICATED"}
        command = [sys.executable, "-c", CLIENT, address]
        done = subprocess.run(command, env=cluster.environ(), capture_output=True, text=True, timeout=180, check=False)
        assert done.stdout == "42\n", done.stderr
    finally:
        cluster.stop("connect")


@pytest.mark.long  # uses pip and an index for the packages of workers
def test_workers_get_their_packages_with_the_job(cluster, folder):
    venv.create(folder / "bare", with_pip=False)
    assert pack.pack(folder / "workers.zip", PACKAGES) == 0
    python = str(folder / "bare" / "bin" / "python")
    # Other tests intercept tasks with a module on the module path; here workers use only the packed file.
    uncaught = "--conf spark.python.daemon.module=pyspark.daemon pyspark-shell"
    given = {"TANGLES_PACKED": str(folder / "workers.zip"), "PYSPARK_SUBMIT_ARGS": uncaught}
    with build(cluster, folder, "packed", PYSPARK_PYTHON=python, **given) as packed:
        packed.end()
    assert {"stg_ssb__lines", "int_tangle_levels"} <= names_of(folder / "packed" / "warehouse")


def test_a_thrift_server_without_a_password_is_started_only_if_that_is_accepted(cluster, folder, monkeypatch):
    monkeypatch.delenv(servers.ACCEPTS, raising=False)
    with pytest.raises(ServerError, match=f"every user of this machine .* set {servers.ACCEPTS}=1"):
        cluster.start_thrift(folder / "thrift")


def test_failed_start_leaves_no_process(folder, monkeypatch):
    """If the master exits at once, the error names its log and every process is stopped."""
    monkeypatch.setattr(servers, "MASTER", "no.such.Master")
    failing = Cluster(folder / "failing")
    with pytest.raises(ServerError, match=r"master ended: see .*failing/master\.log"), failing:
        pass
    assert marked(failing.mark) == []
