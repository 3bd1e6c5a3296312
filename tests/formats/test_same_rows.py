"""Nights of the project on Iceberg and Delta Lake give the rows of the same nights on Sail, also after a kill.

tests/formats/run.sh runs this file with the Spark of both formats, once with each as TANGLES_TARGET.
"""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bench.machine import ROOT
from bench.same_tables import compare

FORMAT = os.environ["TANGLES_TARGET"]
DATA = ROOT / "tests" / "data"
#: The lines of the logs in the second night; the first night lacks every tenth.
LINES = {
    "ssb": (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True),
    "event": gzip.decompress((DATA / "timelines" / "small.jsonl.gz").read_bytes()).splitlines(keepends=True),
}
#: Models of most materializations, in SQL and Python; the whole project takes minutes on Delta Lake.
SELECTED = "+timeline_events"
PUBLIC = {path.stem for path in (ROOT / "models" / "marts").rglob("*.sql")}
#: The second night is killed once this table is built, which is one of the first.
KILLED_AFTER = "int_tangle_claims"


class Nights:
    """The nights of one target over one folder of logs.

    Args:
        target: dbt's target.
        folder: The folder for its tables and the files of dbt.
        logs: The folder of the logs.
    """

    def __init__(self, target: str, folder: Path, logs: Path) -> None:
        self.target, self.folder, self.logs = target, folder, logs
        self.warehouse, self.output = folder / "warehouse", folder / "output.txt"
        self.environ = {**os.environ, "TANGLES_TARGET": target, "TANGLES_WAREHOUSE": str(self.warehouse)}
        folder.mkdir()

    def start(self) -> subprocess.Popen:
        """Start a run."""
        python = str(ROOT / ".venv" / "bin" / "python") if self.target == "sail" else sys.executable
        variables = {f"{kind}_log": str(self.logs / f"{kind}.jsonl") for kind in LINES}
        folders = {"project-dir": ROOT, "profiles-dir": ROOT, "target-path": self.folder, "log-path": self.folder}
        options = [f"--{name}={folder}" for name, folder in folders.items()]
        words = ["-m", "dbt.cli.main", "run", "--no-use-colors", "--select"]
        return subprocess.Popen(
            [python, *words, SELECTED, *options, "--vars", json.dumps(variables)],
            env=self.environ,
            cwd=self.folder,
            stdout=self.output.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self) -> None:
        """Run all selected models."""
        assert self.start().wait() == 0, self.output.read_text()

    def run_until(self, table: str) -> None:
        """Run until a table is built; then kill dbt and its JVM."""
        process = self.start()
        while f"OK created sql table model tangles.{table} " not in self.output.read_text():
            assert process.poll() is None, self.output.read_text()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL

    def tables(self) -> Path:
        """Return a folder with all tables as plain parquet."""
        if self.target == "sail":
            return self.warehouse / "tangles.db"
        command = [sys.executable, "-m", "bench.cluster.snapshots", "export", self.folder / "exported"]
        done = subprocess.run(command, env=self.environ, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.folder / "exported"


def write_logs(folder: Path, kept: int) -> None:
    """Write the logs; of each ten lines, the first `kept` ones."""
    for kind, lines in LINES.items():
        chosen = [line for place, line in enumerate(lines) if place % 10 < kept]
        (folder / f"{kind}.jsonl").write_bytes(b"".join(chosen))


def test_public_tables_have_the_rows_of_sail_after_a_killed_night(tmp_path):
    ours, sail = (Nights(target, tmp_path / target, tmp_path) for target in (FORMAT, "sail"))
    write_logs(tmp_path, 9)
    ours.run()
    sail.run()
    write_logs(tmp_path, 10)
    ours.run_until(KILLED_AFTER)
    ours.run()
    sail.run()
    folders = ours.tables(), sail.tables()
    names = PUBLIC & {path.name for folder in folders for path in folder.iterdir()}
    assert {"ssb_messages", "feeds", "tangle_messages", "timeline_events"} <= names
    assert [f"{name}: {said}" for name in sorted(names) for said in compare(*(each / name for each in folders))] == []
