"""From one content of a table to another: the values of some columns in all rows that differ between the two.

A step is a fact about two contents, which are named by the digests of their bytes. So it stays true whatever happens
before or after; one that leads to a content that no table has is of no use, and nothing else. One whose own files are
not those that were written is none. Nothing here knows dbt.

    <warehouse>/shop.db/.steps/orders/<from>-<to>-<digest of the files>/   parquet files (changes.Differing)
"""

import shutil
from collections import deque
from collections.abc import Collection
from pathlib import Path

import pyarrow.parquet as pq

from dbt_spark_python.integrity import digest_folder
from dbt_spark_python.modes import restrict
from dbt_spark_python.warehouse import Warehouse, link_folder

#: So many steps of a table are kept: who was left out for longer is made whole.
MOST_STEPS = 12


def find_steps(warehouse: Warehouse, schema: str, name: str, origin: str, content: str) -> list[Path] | None:
    """The fewest steps that lead a table from one content to another; None where some are missing."""
    return _walk(_steps(_place(warehouse, schema, name)), origin, content)


def has_columns(steps: list[Path], columns: Collection[str]) -> bool:
    """Whether all of these steps have these columns."""
    return all(set(columns) <= set(pq.read_schema(next(step.rglob("*.parquet"))).names) for step in steps)


def note_step(warehouse: Warehouse, schema: str, name: str, origin: str, content: str, files: Path) -> None:
    """Keep the files with the values of a step, and of the earlier ones those that lead to where it begins.

    Args:
        warehouse: The warehouse, which this process holds.
        schema: Of the table.
        name: Of the table.
        origin: The digest of the content before.
        content: That of the content behind it.
        files: A folder; what is in it is linked.
    """
    place = _place(warehouse, schema, name)
    place.mkdir(parents=True, exist_ok=True)
    if warehouse.is_owner_only(schema, name):  # it has columns of the table
        restrict(files)
        restrict(place)
    wanted = place / f"{origin}-{content}-{digest_folder(files)}"
    shutil.rmtree(wanted, ignore_errors=True)
    steps = {ends: step for ends, step in _steps(place).items() if ends != (origin, content)}
    link_folder(files, wanted)
    kept, ends = {wanted}, deque([(origin, 1)])
    while ends:
        end, length = ends.popleft()
        for (start, to), step in steps.items():
            if to == end and step not in kept and length < MOST_STEPS:
                kept.add(step)
                ends.append((start, length + 1))
    for step in set(place.iterdir()) - kept:
        shutil.rmtree(step, ignore_errors=True)


def _walk(steps: dict[tuple[str, str], Path], origin: str, content: str) -> list[Path] | None:
    found: dict[str, list[Path]] = {origin: []}
    ends = deque([origin])
    while ends and content not in found:
        end = ends.popleft()
        for (start, to), step in steps.items():
            if start == end and to not in found:
                found[to] = [*found[end], step]
                ends.append(to)
    return found.get(content)


def _steps(place: Path) -> dict[tuple[str, str], Path]:
    found = {}
    for folder in sorted(place.iterdir()) if place.is_dir() else []:
        *ends, digest = folder.name.split("-")
        if digest == digest_folder(folder):
            found[tuple(ends)] = folder
    return found


def _place(warehouse: Warehouse, schema: str, name: str) -> Path:
    return warehouse.root / f"{schema}.db" / ".steps" / name
