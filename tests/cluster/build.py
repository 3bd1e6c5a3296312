"""dbt in a process of its own, as a user starts it, on one of the targets."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.command import dbt_command
from bench.report import say

SCHEMA = "tangles"


class BuildError(RuntimeError):
    """A build failed; the message has the last lines of its output."""


class Build:
    """A running dbt process; its files are in the folder `name` of a folder."""

    def __init__(
        self,
        name: str,
        folder: Path,
        target: str,
        environ: Mapping[str, str],
        command: Sequence[str],
        variables: Mapping[str, object] | None = None,
    ) -> None:
        self.name, place = name, folder.resolve() / name
        place.mkdir(parents=True, exist_ok=True)
        self.target = folder.resolve() / "target"
        self.output = place / "output.txt"
        self._begun = time.monotonic()
        say(f"{name}: dbt {' '.join(command)}")
        with self.output.open("w") as written:
            self.process = subprocess.Popen(
                dbt_command(command, target, self.target, folder.resolve() / "logs", variables or {}),
                env={**environ, "TANGLES_SCHEMA": SCHEMA},
                cwd=place,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Build:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

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

    def end(self) -> Build:
        """Wait for a successful end, and say the seconds since the start."""
        if code := self.process.wait():
            raise self.failed(code)
        say(f"{self.name}: {self.seconds:.0f} s")
        return self

    def failed(self, reason: object) -> BuildError:
        """Return an error with the last lines of the output."""
        last = "\n".join(self.said().splitlines()[-30:])
        return BuildError(f"{self.name}: dbt ended unexpectedly ({reason}), see {self.output}:\n{last}")
