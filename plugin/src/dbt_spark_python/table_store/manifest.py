"""The manifest of a published table: the run that built it, its inputs, and its files or its snapshot.

In a warehouse of folders it is the file `_table.json`; tables of Iceberg and Delta Lake have it in a property. A
manifest with an unexpected type of value is ignored: the table's origin is then unknown, and the next build rebuilds
the table.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store import durable_files

MANIFEST_FILE = "_table.json"  # Parquet readers skip names that begin with an underscore.


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_counts(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(map(_is_count, value.values())))


def _is_texts(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(text, str) for text in value.values()))


def _is_groups(value: Any) -> bool:
    numbers = ("since", "upto")
    return value is None or (
        isinstance(value, dict)
        and _is_text(value.get("history"))
        and all(_is_count(value.get(name)) for name in numbers)
    )


def _is_files(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(facts, list) and len(facts) == 2 and all(map(_is_count, facts)) for facts in value.values()
    )


#: The type checks of a manifest's values. Unknown keys are allowed.
_KEYS = {
    **dict.fromkeys(("run_id", "built_at", "changed_in", "content", "snapshot", "columns"), _is_text),
    **dict.fromkeys(("definition", "inputs", "digests", "damaged"), _is_texts),
    "groups": _is_groups,
    "changes": _is_counts,
    "files": _is_files,
}


def load(folder: Path) -> tuple[dict[str, Any], str | None]:
    """Read the manifest of a table's folder.

    Returns:
        Its content, empty if it cannot be used; and the reason why it cannot be used. A missing manifest is empty
        without a reason.
    """
    try:
        found = durable_files.read_object(folder / MANIFEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return {}, None
    except OSError as error:
        return {}, error.strerror or "it cannot be read"
    except ValueError as error:
        return {}, str(error)
    return _check(found)


def parse(text: str) -> dict[str, Any]:
    """Return the manifest that a text contains as JSON; empty if it cannot be used."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return _check(found)[0] if isinstance(found, dict) else {}


def _check(found: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    wrong = [key for key, is_right in _KEYS.items() if key in found and not is_right(found[key])]
    return ({}, f"it has another type of value under {', '.join(wrong)}") if wrong else (found, None)


def read(folder: Path) -> dict[str, Any]:
    """Return the content of the manifest of a table's folder; empty if it cannot be used."""
    return load(folder)[0]


def write(folder: Path, manifest: Mapping[str, Any], draft: Path) -> None:
    """Write the manifest of a table's folder; a reader gets the old or the new one, complete.

    When the warehouse publishes a table, it syncs the manifest together with the table's files. A later manifest
    records that a run reused the table, and is not synced: if a power cut leaves it empty, the next build rebuilds the
    table.

    Args:
        folder: The table's folder.
        manifest: Its content.
        draft: A temporary path on the same file system.

    Raises:
        OSError: It cannot be written.
    """
    durable_files.write_text(folder / MANIFEST_FILE, json.dumps(manifest), draft, sync=False)
