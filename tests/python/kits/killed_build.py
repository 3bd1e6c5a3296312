"""A build in a process of its own, which is killed."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from bench.command import dbt_command
from conftest import ENGINE
from dbt_spark_python.table_store import manifest


class Build:
    """A dbt process with all processes that it starts; `folder` gets the files of dbt and the lines that it prints."""

    def __init__(self, warehouse: Path, schema: str, folder: Path, variables: dict, selected: list[str]) -> None:
        self.warehouse, self.schema = warehouse, schema
        self.left = self.sessions()
        self.said = (folder / "said").open("w+")
        words = ["run", *(["--select", *selected] if selected else [])]
        command = dbt_command(words, ENGINE, folder / "target", folder / "logs", variables)
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
        """Return the folders of all sessions, ended ones too."""
        return {path for path in (self.warehouse / ".sessions").glob("*") if path.is_dir()}

    def open(self) -> float:
        """Wait until the process opens the warehouse; return the time."""
        while self.sessions() <= self.left:
            assert self.process.poll() is None, "dbt ended before the test could kill it"
            time.sleep(0.02)
        return time.monotonic()

    def kill(self) -> None:
        """Kill the process group and wait for its end; it may have ended before."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_once_published(self, table: str) -> None:
        """Kill the process as soon as it has published this table, before the rest of the build."""
        before = self.stamp(table)
        while self.stamp(table) == before:
            assert self.process.poll() is None, "dbt ended before the test could kill it"
            time.sleep(0.05)
        self.kill()

    def end(self) -> str:
        """Wait for a successful end; return the printed text."""
        code = self.process.wait(timeout=900)
        self.said.seek(0)
        said = self.said.read()
        assert code == 0, said
        return said

    def stamp(self, table: str) -> str | None:
        """Return the run that built a table."""
        return manifest.read(self.warehouse / f"{self.schema}.db" / table).get("run_id")
