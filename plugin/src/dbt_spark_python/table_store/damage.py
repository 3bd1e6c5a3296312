"""Reports damaged tables of a warehouse, and records the damage so that the next build rebuilds them."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.integrity import find_altered, find_faults
from dbt_spark_python.table_store.public_folders import is_public
from dbt_spark_python.table_store.warehouse import Warehouse

_SHOWN = 3

# Words in engines' errors about unreadable files. An error may quote its statement, so other errors match as well.
_UNREADABLE = re.compile(
    r"parquet|corrupt|compress|zstd|thrift|checksum|\bEOF\b|end of file|invalid utf-?8", re.IGNORECASE
)


def list_damaged(root: Path) -> Iterator[str]:
    """Yield a line for each damaged published table; rows are not read."""
    for folder in filter(is_public, sorted(root.glob("*.db/*"))):
        noted, wrong = manifest.load(folder)
        if faults := find_faults(folder, noted):
            yield (
                f"the table {name_of(folder)} is damaged and counts as missing: {list_faults(folder, faults)}. "
                "The next build that selects it rebuilds it"
            )
        elif wrong:
            yield (
                f"{str(manifest.path_of(folder))!r} cannot be used: {wrong}. The table "
                f"{name_of(folder)} can be read, but its origin is unknown: the next build that selects it rebuilds it"
            )


def record_damage(warehouse: Warehouse, schema: str, name: str) -> str | None:
    """Read all bytes of a published table, and record its damaged files in its manifest for the next command.

    Returns a line that names the faults; None if the files are intact, or if the manifest lacks digests.
    """
    folder = warehouse.public_place(schema.lower(), name.lower())
    noted = manifest.read(folder)
    if not is_public(folder) or not (faults := find_altered(folder, noted)):
        return None
    if warehouse.is_writing:
        with contextlib.suppress(OSError):
            manifest.write(folder, noted | {"damaged": faults}, warehouse.draft_path())
    return f"the table {name_of(folder)} is damaged: {list_faults(folder, faults)}"


def explain(warehouse: Warehouse, message: str, code: str) -> str | None:
    """Name the damaged tables that caused an engine's error, one line each; None if the error has another cause.

    `code` is the failed SQL or Python, with the names of the tables that it reads.
    """
    if not _UNREADABLE.search(message):
        return None
    words = set(re.findall(r"\w+", code.lower()))
    read = (table for table in warehouse.published() if {table.schema.lower(), table.name.lower()} <= words)
    found = [line for table in read if (line := record_damage(warehouse, table.schema, table.name))]
    return "\n".join(f"{line}. Run again: the next build that selects it rebuilds it" for line in found) or None


def name_of(folder: Path) -> str:
    """Return the name of the table in a public folder, with control characters escaped for terminals."""
    return repr(f"{folder.parent.name[: -len('.db')]}.{folder.name}")


def list_faults(folder: Path, faults: Mapping[str, str]) -> str:
    """List the faults of a table's files in one line."""
    listed = [f"{str(folder / name)!r} {fault}" for name, fault in sorted(faults.items())]
    more = [f"and {len(listed) - _SHOWN} more files"] if len(listed) > _SHOWN else []
    return "; ".join([*listed[:_SHOWN], *more])
