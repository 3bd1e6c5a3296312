"""The committed fixture seeds."""

import base64
import csv

from fixtures.seed_files import SEEDS


def read(folder: str, name: str, **where: str) -> list[dict[str, str]]:
    """Return the rows of a seed, or those that have the given cells."""
    with (SEEDS / folder / f"{name}.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[k] == v for k, v in where.items())]


def lines(folder: str, name: str, source_file: str) -> list[bytes]:
    """Return the raw lines of a file of a fixture log."""
    rows = read(folder, name, source_file=source_file)
    assert [int(row["line"]) for row in rows] == list(range(1, len(rows) + 1))
    return [base64.b64decode(row["raw_base64"], validate=True) for row in rows]
