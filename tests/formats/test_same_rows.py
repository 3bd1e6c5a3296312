"""Nights of the project on Iceberg and Delta Lake give the rows of a build on Sail, also after a kill.

tests/formats/run.sh runs this file with the Spark of both formats, once with each as TANGLES_TARGET.
"""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.machine import ROOT
from tests.same_tables import compare

FORMAT = os.environ["TANGLES_TARGET"]
DATA = ROOT / "tests" / "data"
#: The lines of the logs in the second night; the first night lacks every tenth.
LINES = {
    "ssb": (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True),
    "event": gzip.decompress((DATA / "timelines" / "small.jsonl.gz").read_bytes()).splitlines(keepends=True),
}
PUBLIC = {path.stem for path in (ROOT / "models" / "marts").rglob("*.sql")}
#: Models of each materialization, with the public tables among them; and more of them, in Python, too.
SOME = "+feeds +int_tangle_depths", {"ssb_messages", "feeds"}
MORE = "+timeline_events", {"ssb_messages", "feeds", "tangle_messages", "timeline_events"}
#: The second night is killed once this table is built, which is one of the first.
KILLED_AFTER = "int_tangle_claims"


class Nights:
    """The nights of one target over logs in the same place."""

    def __init__(self, target: str, folder: Path, selected: str) -> None:
        self.target, self.folder, self.selected = target, folder, selected
        self.warehouse, self.output = folder / "warehouse", folder / "output.txt"
        self.environ = {**os.environ, "TANGLES_TARGET": target, "TANGLES_WAREHOUSE": str(self.warehouse)}
        folder.mkdir()

    def start(self, *nights: str) -> subprocess.Popen:
        """Start nights in one process."""
        python = str(ROOT / ".venv" / "bin" / "python") if self.target == "sail" else sys.executable
        logs = [f"{kind}_log={self.folder.parent / kind}.jsonl" for kind in LINES]
        folders = [str(self.folder.parent / night) for night in nights]
        return subprocess.Popen(
            [python, Path(__file__).with_name("run_nights.py"), self.folder, self.selected, *logs, "--", *folders],
            env={**self.environ, "PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            stdout=self.output.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, *nights: str) -> Path:
        """Run all selected models in each night; return a folder with all tables as plain parquet."""
        assert self.start(*nights).wait() == 0, self.output.read_text()
        return self.warehouse / "tangles.db" if self.target == "sail" else self.folder / "exported"

    def kill(self, table: str, *nights: str) -> None:
        """Run until a table is built in the last night; then kill dbt and its JVM."""
        process = self.start(*nights)
        while self.output.read_text().count(f"OK created sql incremental_groups model tangles.{table} ") < len(nights):
            assert process.poll() is None, self.output.read_text()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def write_logs(folder: Path, kept: int) -> None:
    folder.mkdir()
    for kind, lines in LINES.items():
        chosen = [line for place, line in enumerate(lines) if place % 10 < kept]
        (folder / f"{kind}.jsonl").write_bytes(b"".join(chosen))


@pytest.mark.parametrize("models", [SOME, pytest.param(MORE, marks=pytest.mark.long)], ids=["some", "more"])
def test_public_tables_have_the_rows_of_sail_after_a_killed_night(models, tmp_path):
    selected, expected = models
    write_logs(tmp_path / "first", 9)
    write_logs(tmp_path / "second", 10)
    ours, sail = (Nights(target, tmp_path / target, selected) for target in (FORMAT, "sail"))
    ours.kill(KILLED_AFTER, "first", "second")
    folders = ours.run("second"), sail.run("second")
    names = PUBLIC & {path.name for folder in folders for path in folder.iterdir()}
    assert expected <= names
    assert [f"{name}: {said}" for name in sorted(names) for said in compare(*(each / name for each in folders))] == []
