"""What is different on Sail; the builds of all other tests run on it with DBT_SPARK_PYTHON_TEST_ENGINE=sail."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from dbt_spark_python import sail


@pytest.mark.parametrize("found", ["0.5.3", "0.7.2", "1.0.0"])
def test_versions_that_do_not_fit_are_refused(found, monkeypatch):
    """With the remedy."""
    monkeypatch.setattr(sail, "version", lambda package: found if package == "pysail" else "4.3.0")
    with pytest.raises(sail.SailError, match=rf"pysail {found} does not fit pyspark 4.3.0: .*dbt-spark-python\[sail\]"):
        sail.check_installed()


def test_an_environment_without_it(monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(sail, "version", missing)
    with pytest.raises(sail.SailError, match=r"has none: pip install 'dbt-spark-python\[sail\]'"):
        sail.check_installed()


@pytest.mark.parametrize(
    ("statement", "counts"),
    [
        ("create table a as select 1", True),
        ("/* {} */\n\n  create table a as select 1", True),
        ("-- x\ninsert into a values (1)", True),
        ("select 'create'", False),
        ("/* create */ select 1", False),
        ("with a as (select 1) select * from a", False),
        ("\n  merge into a using b on a.x = b.x when matched then delete", True),
    ],
)
def test_statements_that_count(statement, counts):
    assert bool(sail._COUNTING.match(statement)) == counts


SERVER = """
import glob, os, signal, sys
from dbt_spark_python import sail
session = sail.connect({}, sys.argv[1])
print(session.sql("select 1").first()[0])
listening = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
mine = {os.readlink(fd) for fd in glob.glob("/proc/self/fd/*") if os.path.islink(fd)}
print({row[1].partition(":")[0] for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in mine})
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_the_server_is_of_this_machine_and_of_its_process(tmp_path):
    """It listens on 127.0.0.1 alone, and a process that is killed takes it along."""
    pytest.importorskip("pysail")
    done = subprocess.run(
        [sys.executable, "-c", SERVER, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["1", "{'0100007F'}"], done.stderr


LEFT_RUNNING = """
import tempfile, time
from dbt_spark_python import deadlines, sail

def wait(batches):
    for batch in batches:
        for _ in range(600):
            time.sleep(0.1)
        yield batch

spark = sail.connect({}, tempfile.mkdtemp())
spark.addTag("slow")
try:
    with deadlines.Deadline(spark, "slow", 1):
        spark.range(1).repartition(1).mapInArrow(wait, "id bigint").collect()
except TimeoutError:
    print("took too long")
"""


@pytest.mark.sail
def test_a_process_ends_though_a_function_runs():
    """That of a model which took too long."""
    done = subprocess.run([sys.executable, "-c", LEFT_RUNNING], capture_output=True, text=True, timeout=40)
    assert (done.returncode, done.stdout) == (0, "took too long\n"), done.stderr
