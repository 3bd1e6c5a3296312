"""A cluster of two workers on this machine: the tables are those of one process, whatever workers lack or lose."""

import os
import venv
from pathlib import Path

import pytest

from bench.cluster import strikes
from bench.cluster.build import Build
from bench.cluster.servers import Cluster, marked
from bench.cluster.strikes import Strike
from bench.cluster.tables import differences, names_of
from conftest import DATA
from dbt_spark_python import pack

pytestmark = pytest.mark.spark

#: SQL, SQL in rounds, and a Python model of each kind: lines are checked, graphs walked, timelines ordered.
SELECTED = "+tangle_messages", "+timeline_edits"
VARIABLES = {"ssb_log": str(DATA / "ssb" / "small.jsonl")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where all that the builds and servers write goes."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def cluster(folder):
    """A master and two workers; nothing of them is left."""
    with Cluster(folder / "servers", defaults={"spark.sql.shuffle.partitions": "2"}) as started:
        yield started
    assert marked(started.mark) == []


def build(cluster: Cluster, folder: Path, name: str, **environ: str) -> Build:
    """Begin a build on the cluster."""
    places = {"SPARK_MASTER": cluster.master, "TANGLES_WAREHOUSE": str(folder / name / "warehouse")}
    environment = cluster.environ(NO_COLOR="1", **places, **environ)
    return Build(name, folder, "cluster", environment, ("run", "--select", *SELECTED), VARIABLES)


def test_workers_without_packages_are_refused_before_any_model(cluster, folder):
    """By the packages' names; nothing is made."""
    cluster.set_defaults({})
    venv.create(folder / "bare", with_pip=False)
    with build(cluster, folder, "refused", PYSPARK_PYTHON=str(folder / "bare" / "bin" / "python")) as refused:
        assert refused.wait() != 0
        said = refused.said()
    assert "the Python models need packages that a worker lacks: " in said
    for name in ("numba", "numpy", "orjson", "pyarrow", "PyNaCl", "rfc8785"):
        assert f"{name} (not installed)" in said
    assert " OK created " not in said
    assert names_of(folder / "refused" / "warehouse") == set()


def test_workers_are_killed_and_the_tables_are_the_same(cluster, folder, project):
    """Between SQL rounds, and in the middle of a model that checks lines and of one that walks graphs."""
    falling = [Strike(*strikes.LINES, "kill_worker"), Strike(*strikes.LEVELS, "kill_worker")]
    cluster.set_defaults(strikes.settings(cluster, folder, falling))
    with build(cluster, folder, "struck") as struck:
        died = strikes.tend(cluster, struck, kill_in_rounds=True)
        struck.end()
    assert [strike for strike in falling if not strike.mark(folder).exists()] == []
    assert died == 3

    here = project("one_machine", **VARIABLES)
    assert here.invoke("run", "--select", *SELECTED).success
    warehouse = folder / "struck" / "warehouse"
    assert {"stg_ssb__lines", "int_tangle_depths", "timeline_edits"} <= names_of(warehouse)
    assert differences(warehouse, here.warehouse, wanted_schema=here.schema) == []
    assert not {"metastore_db", "derby.log", "spark-warehouse"} & {*os.listdir(folder / "struck")}


@pytest.mark.exhaustive  # pip and an index are asked for what workers need
def test_workers_get_their_packages_with_the_job(cluster, folder):
    """They have nothing but Python."""
    venv.create(folder / "bare", with_pip=False)
    needed = ["numba", "numpy", "orjson", "pyarrow", "PyNaCl", "rfc8785"]
    assert pack.pack(folder / "workers.zip", needed) == 0
    cluster.set_defaults({})
    python = str(folder / "bare" / "bin" / "python")
    with build(cluster, folder, "packed", PYSPARK_PYTHON=python, TANGLES_PACKED=str(folder / "workers.zip")) as packed:
        packed.end()
    assert {"stg_ssb__lines", "timeline_edits"} <= names_of(folder / "packed" / "warehouse")


def test_nothing_is_left_of_a_cluster_that_cannot_start(folder, monkeypatch):
    """Where the master ends at once, its log is named."""
    from bench.cluster import servers

    monkeypatch.setattr(servers, "MASTER", "no.such.Master")
    failing = Cluster(folder / "failing")
    with pytest.raises(servers.ServerError, match=r"master ended: see .*failing/master\.log"), failing:
        pass
    assert marked(failing.mark) == []
