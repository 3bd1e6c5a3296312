"""Runs of dbt over a growing log, with tables of Iceberg or Delta Lake, on this machine and on a cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.machine import ROOT
from tests.cluster.build import SCHEMA, Build, BuildError
from tests.cluster.servers import Cluster


class Place(NamedTuple):
    """A folder with tables of its own, and dbt's target and environment that build or read them."""

    name: str
    target: str
    environ: Mapping[str, str]


@dataclass(frozen=True)
class NightRuns:
    """The runs of one command over fractions of a log, with all files in a folder."""

    folder: Path
    file_format: str  # also dbt's target
    lines: Sequence[bytes]
    command: Sequence[str]
    variables: Mapping[str, object]

    def on_machine(self, name: str, warehouse: Path | None = None) -> Place:
        """Return this machine, with as many cores as a cluster, as a place; by default with tables of its own."""
        given = {"TANGLES_MASTER": "local[2]", "TANGLES_WAREHOUSE": str(warehouse or self.warehouse(name))}
        return Place(name, self.file_format, {**os.environ, **given})

    def on_cluster(self, name: str, cluster: Cluster, warehouse: Path | None = None, **given: str) -> Place:
        """Return a cluster as a place."""
        places = {"TANGLES_MASTER": cluster.master, "TANGLES_WAREHOUSE": str(warehouse or self.warehouse(name))}
        return Place(name, self.file_format, cluster.environ(**places, **given))

    def warehouse(self, name: str) -> Path:
        """Return the folder of the tables of a place."""
        return self.folder / name / "warehouse"

    def start(self, place: Place, fraction: float) -> Build:
        """Start a run over the first lines of the log, with the settings for large inputs."""
        log = self.folder / "growing.jsonl"  # the path of the log of each night
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"".join(self.lines[: round(len(self.lines) * fraction)]))
        variables = {"ssb_log": str(log), **self.variables}
        environ = {**place.environ, "TANGLES_SMALL_BYTES": "0"}
        name = f"{place.name.replace('/', '-')}-{fraction:.0%}"
        return Build(name, self.folder / place.name, place.target, environ, self.command, variables)

    def run(self, place: Place, fraction: float) -> Build:
        """Run to a successful end."""
        with self.start(place, fraction) as build:
            return build.end()

    def export(self, place: Place) -> Path:
        """Write all tables of a place as a warehouse of plain parquet; return its folder."""
        folder, output = (self.folder / place.name / name for name in ("exported", "export.txt"))
        shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "tests.cluster.snapshots", str(folder / f"{SCHEMA}.db")]
        environ = {**place.environ, "TANGLES_TARGET": place.target}
        with output.open("w") as out:
            done = subprocess.run(command, env=environ, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        if done.returncode:
            raise BuildError(f"the tables were not exported, see {output}")
        return folder
