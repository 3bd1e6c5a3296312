"""dbt in a process of its own, as a user starts it, on one of the targets."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from bench.command import dbt_command
from bench.report import say

SCHEMA = "tangles"
PATIENCE = 30.0  # seconds between two lines of progress


class BuildError(RuntimeError):
    """A build failed; the message has the last lines of its output."""


class Build:
    """A running dbt process.

    Args:
        name: The name in lines of progress, and of the folder for its files.
        folder: The parent of that folder.
        target: dbt's target.
        environ: Its environment.
        command: dbt's command and options.
        variables: dbt's vars.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        target: str,
        environ: Mapping[str, str],
        command: Sequence[str] = ("build",),
        variables: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.folder = folder.resolve() / name
        self.folder.mkdir(parents=True, exist_ok=True)
        # Concurrent builds of one target share the parsed project.
        self.target = folder.resolve() / "target"
        started = dbt_command(command, target, self.target, self.folder / "logs", variables or {})
        self.output = self.folder / "output.txt"
        self._written: TextIO = self.output.open("w")
        self._begun = time.monotonic()
        self.process = subprocess.Popen(
            started,
            env={**environ, "TANGLES_SCHEMA": SCHEMA},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self._written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Build:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._written.close()

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return self.process.poll() is None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begun

    def said(self) -> str:
        """Return its output so far."""
        return self.output.read_text()

    def kill(self) -> None:
        """Kill -9 dbt and its JVM."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self) -> int:
        """Wait for the end, and repeat a line of the output now and then; return the exit code."""
        shown = time.monotonic()
        while self.is_running:
            time.sleep(0.2)
            if time.monotonic() - shown > PATIENCE:
                shown = time.monotonic()
                lines = self.said().splitlines()
                say(f"{self.name}: {lines[-1].strip() if lines else 'starting'}")
        return self.process.returncode

    def end(self) -> float:
        """Wait for a successful end; return the seconds since the start.

        Raises:
            BuildError: The build failed.
        """
        if self.wait():
            last = "\n".join(self.said().splitlines()[-30:])
            raise BuildError(f"{self.name}: dbt failed, see {self.output}:\n{last}")
        return self.seconds
