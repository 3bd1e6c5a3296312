"""A build in a process of its own, which is killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import ROOT


class Build:
    """A dbt process, and all processes that it starts.

    Args:
        warehouse: The warehouse.
        schema: The schema.
        folder: For the files of dbt, and for the lines that it prints.
        variables: The vars.
        selected: The models; all where there are none.
    """

    def __init__(self, warehouse: Path, schema: str, folder: Path, variables: dict, selected: list[str]) -> None:
        self.warehouse, self.schema = warehouse, schema
        self.left = self.sessions()
        self.said = (folder / "said").open("w+")
        command = [sys.executable, "-m", "dbt.cli.main", "run", *(["--select", *selected] if selected else [])]
        command += ["--project-dir", ROOT, "--profiles-dir", ROOT, "--vars", json.dumps(variables)]
        command += ["--target-path", folder / "target", "--log-path", folder / "logs"]
        environment = {
            **os.environ,
            "TANGLES_WAREHOUSE": str(warehouse),
            "TANGLES_SCHEMA": schema,
            "TANGLES_SHUFFLE_PARTITIONS": "2",
        }
        self.process = subprocess.Popen(
            command, env=environment, stdout=self.said, stderr=subprocess.STDOUT, start_new_session=True, cwd=folder
        )

    def sessions(self) -> set[Path]:
        """The folders of processes, dead ones too."""
        return {path for path in (self.warehouse / ".sessions").glob("*") if path.is_dir()}

    def open(self) -> float:
        """Wait until it touches the warehouse; returns the moment."""
        while self.sessions() <= self.left:
            assert self.process.poll() is None, "it ended too early"
            time.sleep(0.02)
        return time.monotonic()

    def kill(self) -> None:
        """Kill -9, and wait until all of it is gone; it may have ended before."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_once_published(self, table: str) -> None:
        """Kill it when it has built some tables, this one for the last, and others not."""
        before = self.stamp(table)
        while self.stamp(table) == before:
            assert self.process.poll() is None, "it ended too early"
            time.sleep(0.05)
        self.kill()

    def end(self) -> str:
        """Wait until it has ended well; returns what it said."""
        code = self.process.wait(timeout=900)
        self.said.seek(0)
        said = self.said.read()
        assert code == 0, said
        return said

    def stamp(self, table: str) -> str | None:
        """The run that built a table."""
        path = self.warehouse / f"{self.schema}.db" / table / "_table.json"
        return json.loads(path.read_text())["run_id"] if path.exists() else None
