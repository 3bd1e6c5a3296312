"""Says which public tables of a warehouse are damaged, and notes it, so that they are made anew."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.integrity import find_altered, find_faults
from dbt_spark_python.table_store.warehouse import Warehouse, is_public

_SHOWN = 3

# Words in engines' errors about unreadable files. An error may quote its statement, so other errors match too.
_UNREADABLE = re.compile(
    r"parquet|corrupt|compress|zstd|thrift|checksum|\bEOF\b|end of file|invalid utf-?8", re.IGNORECASE
)


def complaints(root: Path) -> Iterator[str]:
    """Yield a line for each fault of a public table, found without reading rows.

    Args:
        root: The warehouse.
    """
    for folder in filter(is_public, sorted(root.glob("*.db/*"))):
        noted, wrong = manifest.load(folder)
        if faults := find_faults(folder, noted):
            yield (
                f"the table {name_of(folder)} is damaged and counts as missing: {list_faults(folder, faults)}. "
                "A build that selects it makes it anew"
            )
        elif wrong:
            yield (
                f"{str(folder / manifest.STAMP)!r} cannot be used: {wrong}. The table {name_of(folder)} can be read, "
                "but its origin is unknown: a build that selects it makes it anew"
            )


def is_damaged(warehouse: Warehouse, schema: str, name: str) -> bool:
    """Whether a quick look at the files of a public table finds them damaged."""
    folder = warehouse.public_place(schema.lower(), name.lower())
    return is_public(folder) and bool(find_faults(folder, manifest.read(folder)))


def note_damage(warehouse: Warehouse, schema: str, name: str) -> str | None:
    """Read all bytes of a public table, and note its damaged files in its manifest for the next command.

    Returns:
        A line that names the faults; None where the table is as it was published, or its manifest lacks digests.
    """
    folder = warehouse.public_place(schema.lower(), name.lower())
    noted = manifest.read(folder)
    if not is_public(folder) or not (faults := find_altered(folder, noted)):
        return None
    if warehouse.is_writing:
        with contextlib.suppress(OSError):
            manifest.write(folder, noted | {"damaged": faults}, warehouse.draft())
    return f"the table {name_of(folder)} is damaged: {list_faults(folder, faults)}"


def explain(warehouse: Warehouse, message: str, code: str) -> str | None:
    """Say which damaged tables an engine's error comes from.

    Args:
        warehouse: Where the tables are.
        message: The error's.
        code: The failed SQL or Python, with the names of the tables that it reads.

    Returns:
        A line for each of them; None where the error is about something else.
    """
    if not _UNREADABLE.search(message):
        return None
    words = set(re.findall(r"\w+", code.lower()))
    read = (table for table in warehouse.published() if {table.schema.lower(), table.name.lower()} <= words)
    found = [line for table in read if (line := note_damage(warehouse, table.schema, table.name))]
    return "\n".join(f"{line}. Run again: a build that selects it makes it anew" for line in found) or None


def name_of(folder: Path) -> str:
    """The name of the table in a public folder, quoted so that a terminal shows it and does not obey it."""
    return repr(f"{folder.parent.name[: -len('.db')]}.{folder.name}")


def list_faults(folder: Path, faults: Mapping[str, str]) -> str:
    """List the faults of a table's files in a line."""
    listed = [f"{str(folder / name)!r} {fault}" for name, fault in sorted(faults.items())]
    more = [f"and {len(listed) - _SHOWN} more files"] if len(listed) > _SHOWN else []
    return "; ".join([*listed[:_SHOWN], *more])
