"""Files of logs as tests write and read them, and the tables of builds, sorted for comparison."""

import gzip
import json
import os
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

from conftest import DATA


def read_lines(name: str) -> list[bytes]:
    """Read a file of the test data, which is packed if its name ends in `.gz`; lines without their ends."""
    path = DATA / name
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return file.read().removesuffix(b"\n").split(b"\n")


def read_cases(name: str) -> list[Any]:
    """Read a file of recorded answers, with one JSON value a line."""
    return list(map(json.loads, read_lines(name)))


def write(path: Path, lines: list[bytes]) -> str:
    """Write a file of lines, and return its path."""
    path.write_bytes(b"\n".join(lines) + b"\n")
    return str(path)


def flip_bit(path):
    """Change one bit of a file, but neither its size nor its times."""
    found, content = path.stat(), bytearray(path.read_bytes())
    content[1000] ^= 4
    path.write_bytes(content)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def scatter(folder: Path, lines: list[bytes], files: int = 5) -> None:
    """Write lines in another order into several files, one of them compressed; the folder's name seeds the order."""
    rng = random.Random(folder.name)
    lines = rng.sample(lines, len(lines))
    cuts = [0, *sorted(rng.sample(range(1, len(lines)), files - 1)), len(lines)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        # Spark removes a byte order mark at the beginning of a file.
        assert not lines[start].startswith(b"\xef\xbb\xbf")
        write(folder / f"{number}.jsonl", lines[start:end])
    packed = folder / "3.jsonl"
    packed.with_suffix(".jsonl.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()


def without_places(row: dict, *left_out: str) -> tuple:
    return tuple((name, value) for name, value in row.items() if name not in {"source_file", "line", *left_out})


def contents(built, table: str, *left_out: str) -> list[tuple]:
    """Read a table without places in files, in a fixed order; a row for several rejected lines counts as often."""
    is_of_rejects = table.endswith("_rejects")
    found = []
    for row in built.rows(table):
        shown = without_places(row, *left_out, *(["line_count"] if is_of_rejects else []))
        found += [shown] * (row["line_count"] if is_of_rejects else 1)
    return sorted(found, key=repr)


def selection_of(*tables: str) -> list[str]:
    """Select tables and their inputs; `+tangles` by itself would select the whole package."""
    return [f"+{'path:models/marts/tangles/tangles.sql' if table == 'tangles' else table}" for table in tables]
