"""A log and Iceberg tables in an object store: a lost connection, the run after it, and the place of credentials.

tests/formats/run.sh runs this file. TANGLES_JARS names the jars, FORMATS_PYTHON an interpreter with their Spark, and
MOTO_SERVER the program of the server.
"""

import gzip
import os
import re
import subprocess
import time
from base64 import b64encode
from pathlib import Path

import pytest

import leaks
from bench.command import dbt_command
from conftest import DATA, ROOT
from object_store import ObjectStore
from tests.same_tables import compare

SPARK = os.environ["FORMATS_PYTHON"]
#: The tables that are compared, and the model during which the connection is lost.
MODELS, LOST_DURING = ["feed_messages", "ssb_messages"], "int_feed_links"
SECRET = b64encode(b"a key of thirty bytes for test").decode()
CONNECTION = """
spark.hadoop.fs.s3a.endpoint {endpoint}
spark.hadoop.fs.s3a.endpoint.region us-east-1
spark.hadoop.fs.s3a.path.style.access true
spark.hadoop.fs.s3a.attempts.maximum 1
spark.hadoop.fs.s3a.retry.limit 1
spark.hadoop.fs.s3a.connection.establish.timeout 2s
"""


class Runs:
    """Runs of the project over a log and tables in a store; the folder has the settings and the exported tables."""

    def __init__(self, folder: Path, store: ObjectStore) -> None:
        self.folder, self.store, self.said = folder, store, folder / "said"
        (folder / "spark-defaults.conf").write_text(CONNECTION.format(endpoint=store.endpoint))

    def start(self) -> subprocess.Popen:
        """Start a run, and the export of its tables."""
        selected = " ".join(f"+{model}" for model in MODELS)
        command = [SPARK, "-W", "ignore", ROOT / "tests" / "formats" / "run_nights.py", self.folder, selected]
        credentials = {"AWS_ACCESS_KEY_ID": "key-of-a-test", "AWS_SECRET_ACCESS_KEY": SECRET}
        places = {"TANGLES_TARGET": "iceberg", "TANGLES_WAREHOUSE": "s3a://lake/tables"}
        return subprocess.Popen(
            [*command, "ssb_log=s3a://logs/ssb/*.jsonl*", "--"],
            env={**os.environ, **places, **credentials, "SPARK_CONF_DIR": str(self.folder)}
            | {"TANGLES_SHUFFLE_PARTITIONS": "1", "PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            stdout=self.said.open("w"),
            stderr=subprocess.STDOUT,
        )

    def end(self, process: subprocess.Popen, code: int = 0) -> str:
        """Wait for the end of a run; return its output."""
        assert process.wait(timeout=300) == code, self.said.read_text()
        return self.said.read_text()

    def lose_connection(self, model: str) -> str:
        """Run, and cut the connection once a model begins; return the output of the failed run.

        Also the last hook fails, which notes the end of the run, so dbt's exit code is 2.
        """
        process = self.start()
        while not re.search(rf"START .* model tangles\.{model} ", self.said.read_text()):
            assert process.poll() is None, self.said.read_text()
            time.sleep(0.05)
        self.store.cut()
        said = self.end(process, 2)
        self.store.restore()
        return said


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A store with a log of two files, one of them compressed, and no run yet."""
    folder = tmp_path_factory.mktemp("object_store")
    store = ObjectStore(os.environ["MOTO_SERVER"], folder / "server", "logs", "lake")
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True)
    store.put("logs/ssb/a.jsonl", b"".join(lines[:150]))
    store.put("logs/ssb/b.jsonl.gz", gzip.compress(b"".join(lines[150:])))
    store.put("logs/ssb/c.txt", lines[0])
    yield Runs(folder, store)
    store.close()


@pytest.fixture(scope="module")
def on_sail(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sail")
    words = ["run", "--select", *(f"+{model}" for model in MODELS)]
    variables = {"ssb_log": str(DATA / "ssb" / "small.jsonl")}
    environment = {**os.environ, "TANGLES_WAREHOUSE": str(folder / "warehouse"), "TANGLES_TARGET": "sail"}
    command = dbt_command(words, "sail", folder, folder, variables)
    subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE)
    return folder / "warehouse" / "tangles.db"


def test_a_lost_connection_is_reported_and_the_next_run_completes_the_tables(runs, on_sail):
    said = runs.lose_connection(LOST_DURING)
    assert re.search(
        r"the object store does not answer for s3a://lake/tables/\S+ \(.*refused\): check the network", said
    )
    assert "\tat " not in said, "a stack trace of Java"
    runs.end(runs.start())
    for model in MODELS:
        assert compare(runs.folder / "exported" / model, on_sail / model) == []
    noted = leaks.read(runs.folder / "exported" / "runs").sort_by("started_at")
    assert noted["status"].to_pylist() == ["interrupted", "success"]


def test_credentials_are_in_no_table_and_in_no_file(runs):
    """The secret is neither in the objects of the warehouse, nor in the rows, nor in the files of dbt."""
    keys = runs.store.keys("lake")
    assert any(key.endswith(".metadata.json") for key in keys)
    files = {path: path.read_bytes() for path in runs.folder.rglob("*") if path.is_file()}
    texts = [*files.values(), *(runs.store.get(f"lake/{key}") for key in keys)]
    texts += [leaks.everything_in(table) for table in (runs.folder / "exported").iterdir()]
    assert sum(map(len, texts)) > 1_000_000
    assert [form for form in leaks.forms(SECRET) if any(form in text for text in texts)] == []
