"""Runs of dbt over a growing log, with tables of Iceberg or Delta Lake, on this machine and on a cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.machine import ROOT
from bench.report import say
from tests.cluster.build import SCHEMA, Build, BuildError
from tests.cluster.servers import Cluster
from tests.cluster.tables import differences, names_of

#: The places, each with tables of its own.
MACHINE, CLUSTER = PLACES = ("machine", "cluster")


class Place(NamedTuple):
    """A folder with tables of its own, and dbt's target and environment that build or read them."""

    name: str
    target: str
    environ: Mapping[str, str]


@dataclass(frozen=True)
class NightRuns:
    """The runs of one command over fractions of a log.

    Args:
        folder: The folder for tables, logs and the files of dbt.
        file_format: The table format, which is also dbt's target.
        lines: The lines of the log.
        command: dbt's command and options.
        variables: dbt's vars, besides that of the log.
    """

    folder: Path
    file_format: str
    lines: Sequence[bytes]
    command: Sequence[str]
    variables: Mapping[str, object] = field(default_factory=dict)

    def start(self, fraction: float, cluster: Cluster | None = None, given: Mapping[str, str] | None = None) -> Build:
        """Start a run over the first lines of the log: on a cluster, or on this machine with as many cores.

        Args:
            fraction: The fraction of the lines.
            cluster: The cluster.
            given: More environment variables.
        """
        place = self.on_machine(MACHINE)
        if cluster:
            environ = cluster.environ(TANGLES_MASTER=cluster.master, TANGLES_WAREHOUSE=str(self.warehouse(CLUSTER)))
            place = Place(CLUSTER, self.file_format, environ)
        return self.start_in(place._replace(environ={**place.environ, **(given or {})}), fraction)

    def start_in(self, place: Place, fraction: float) -> Build:
        """Start a run over the first lines of the log, with the settings for large inputs."""
        log = self.folder / "growing.jsonl"  # the path of the log of each night
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"".join(self.lines[: round(len(self.lines) * fraction)]))
        environ = {**place.environ, "TANGLES_SMALL_BYTES": "0"}
        variables = {"ssb_log": str(log), **self.variables}
        return Build("dbt", self.folder / place.name, place.target, environ, self.command, variables)

    def run(self, fraction: float, cluster: Cluster | None = None) -> float:
        """Run to the end; return the seconds.

        Raises:
            BuildError: The run failed.
        """
        with self.start(fraction, cluster) as build:
            return build.end()

    def on_machine(self, name: str, warehouse: Path | None = None, master: str = "local[2]") -> Place:
        """Return this machine as a place, by default with tables of its own."""
        given = {"TANGLES_MASTER": master, "TANGLES_WAREHOUSE": str(warehouse or self.warehouse(name))}
        return Place(name, self.file_format, {**os.environ, **given})

    def warehouse(self, name: str) -> Path:
        """Return the folder of the tables of a place."""
        return self.folder / name / "warehouse"

    def has_tables(self, name: str) -> bool:
        """Whether an earlier run made tables in a place."""
        return self.warehouse(name).exists()

    def commits(self, name: str) -> dict[str, int]:
        """Return the number of commits of each table of a place."""
        place = self.warehouse(name)
        files = [*place.rglob("metadata/*.metadata.json"), *place.rglob("_delta_log/*.json")]
        return Counter(file.parents[1].name for file in files)

    def watch(self, output: Path, file: Path, stop: Path, names: Sequence[str]) -> subprocess.Popen:
        """Start to read tables of the cluster in a loop, in another process; see `snapshots`."""
        warehouse = self.warehouse(CLUSTER)
        tables = [f"{SCHEMA}.{name}" for name in names]
        if self.file_format == "delta":  # Derby, its catalog, admits only the process of the night
            tables = [f"delta.`{warehouse}/{SCHEMA}.db/{name}`" for name in names]
            warehouse = file.parent / "warehouse"
        return self._snapshots(self.on_machine("reader", warehouse, "local[1]"), output, "watch", file, stop, *tables)

    def compare_tables(self) -> list[str]:
        """Return the differences between all tables of the cluster and of this machine.

        Raises:
            BuildError: The tables could not be read.
        """
        machine, cluster = (self.export(self.on_machine(name)) for name in PLACES)
        said = differences(machine, cluster)
        say(f"{len(names_of(machine))} tables, {'not ' if said else ''}those of one machine")
        return said

    def export(self, place: Place) -> Path:
        """Write all tables of a place as a warehouse of plain parquet; return its folder.

        Raises:
            BuildError: The tables could not be read.
        """
        folder, output = (self.folder / place.name / name for name in ("exported", "export.txt"))
        shutil.rmtree(folder, ignore_errors=True)
        if self._snapshots(place, output, "export", folder / f"{SCHEMA}.db").wait():
            raise BuildError(f"the tables were not exported, see {output}")
        return folder

    @staticmethod
    def _snapshots(place: Place, output: Path, *words: str | Path) -> subprocess.Popen:
        """Start `tests.cluster.snapshots` in a place."""
        command = [sys.executable, "-m", "tests.cluster.snapshots", *map(str, words)]
        environ = {**place.environ, "TANGLES_TARGET": place.target}
        with output.open("w") as out:
            return subprocess.Popen(command, env=environ, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
