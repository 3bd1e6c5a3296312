"""Seeds as CSV files, written by scripts: what the scripts share."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

Tables = dict[str, list[list]]


def to_csv(header: str, rows: list[list]) -> str:
    """Return a seed's rows as CSV text below its header, whose names are separated by spaces."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header.split())
    writer.writerows(rows)
    return out.getvalue()


def read_words(text: str) -> list[dict[str, str]]:
    """Read a table of words; the last column takes all that is left, and `-` is nothing."""
    if not text:
        return []
    head, *lines = (line.split() for line in text.strip().splitlines())
    rows = []
    for words in lines:
        cells = [*words[: len(head) - 1], " ".join(words[len(head) - 1 :])]
        rows.append({name: "" if cell == "-" else cell for name, cell in zip(head, cells, strict=True)})
    return rows


def main(folder: Path, headers: dict[str, str], make_tables: Callable[[], Tables], argv: list[str] | None) -> int:
    """Write the seeds in a folder, or compare them with what is there; the exit code."""
    parser = argparse.ArgumentParser(description=f"Write the fixture seeds below seeds/{folder.name}/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a seed differs")
    check = parser.parse_args(argv).check
    folder.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, rows in make_tables().items():
        path, data = folder / f"{name}.csv", to_csv(headers[name], rows).encode()
        if not path.exists() or path.read_bytes() != data:
            stale.append(path)
            if not check:
                path.write_bytes(data)
    for path in stale:
        print(f"{'differs' if check else 'written'}: {path.parent.name}/{path.name}", file=sys.stderr)
    return int(check and bool(stale))
