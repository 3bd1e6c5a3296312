"""Reads the committed fixture seeds."""

import base64
import csv
from functools import cache

from fixtures.seed_files import SEEDS, from_cells
from fixtures.systems import LOGS, SYSTEMS


@cache
def seed(name: str) -> list[dict[str, str]]:
    """Return the rows of a seed."""
    with (SEEDS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def log(system: str) -> list[dict[str, str]]:
    """Return the lines of a system's fixture log, each with its file and number."""
    return [row for row in seed("fixture_log") if row["log"] == LOGS[system]]


def names(system: str, kind: str) -> list[dict[str, str]]:
    """Return the ids of messages, feeds or writers, by example and by the name that the example gives them."""
    return [row for row in seed("fixture_names") if (row["system"], row["kind"]) == (system, kind)]


def expected(system: str, statement: str, **where: str) -> list[dict[str, str]]:
    """Return the rows of a statement, optionally only those with the given cells."""
    columns = SYSTEMS[system].HEADERS[statement].split()[1:]
    rows = [
        {"example": row["example"], **from_cells(columns, row["cells"])}
        for row in seed(f"expected_{system}")
        if row["statement"] == statement and row["example"] == where.get("example", row["example"])
    ]
    return [row for row in rows if all(row[k] == v for k, v in where.items())]


def lines(system: str, source_file: str) -> list[bytes]:
    """Return the raw lines of a file of a fixture log."""
    rows = [row for row in log(system) if row["source_file"] == source_file]
    assert [int(row["line"]) for row in rows] == list(range(1, len(rows) + 1))
    return [base64.b64decode(row["raw_base64"], validate=True) for row in rows]
