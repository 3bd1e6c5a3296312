"""A reader during a night: each of its readings must have the rows before the night or those after it."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import say
from tests.cluster.build import SCHEMA, BuildError
from tests.cluster.night_runs import NightRuns

#: Public tables of several layers, which change in each night.
WATCHED = ("ssb_messages", "feeds", "feed_messages", "tangle_messages", "timeline_events")


@contextmanager
def reading(nights: NightRuns, warehouse: Path) -> Iterator[Path]:
    """Read tables of a warehouse in another process while a night runs; yields the file of the readings."""
    file, stop, output = (nights.folder / "reader" / name for name in ("readings.jsonl", "stop", "output.txt"))
    shutil.rmtree(file.parent, ignore_errors=True)
    file.parent.mkdir(parents=True)
    tables = [f"{SCHEMA}.{name}" for name in WATCHED]
    if nights.file_format == "delta":  # Derby, its catalog, admits only the process of the night
        tables = [f"delta.`{warehouse}/{SCHEMA}.db/{name}`" for name in WATCHED]
        warehouse = file.parent / "warehouse"
    place = nights.on_machine("reader", warehouse)
    reader = nights.start_snapshots(place, output, "watch", file, stop, *tables)
    try:
        while reader.poll() is None and not (file.exists() and file.read_text().count("\n") >= len(WATCHED)):
            time.sleep(0.1)
        yield file
    finally:
        stop.touch()
        code = reader.wait()
    if code:
        raise BuildError(f"the reader failed, see {output}")


def check_readings(file: Path) -> list[str]:
    """Return a line for each table with a reading that is neither its first nor its last, or without other rows."""
    found: dict[str, list[str]] = {}
    for line in file.read_text().splitlines():
        _, table, digest = json.loads(line)
        found.setdefault(re.split("[./]", table.strip("`"))[-1], []).append(digest)
    said = []
    for table, digests in found.items():
        before = sum(digest == digests[0] for digest in digests)
        say(f"reader: {table}: {len(digests)} readings, {before} before the commit")
        if digests[0] == digests[-1]:
            said.append(f"{table} has not changed in the night")
        if set(digests) - {digests[0], digests[-1]}:
            said.append(f"{table} was read with rows that are neither those before the night nor those after it")
    return said
