"""The manifest of a published table, `_table.json`: which run built the table, of what, and which files it has.

A manifest of another form than `write` gives it is disregarded: the origin of its table is then unknown, and the next
build makes the table anew.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store import durable_files

STAMP = "_table.json"  # Parquet readers pass over names that begin with an underscore.


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


#: The checks of a manifest's values. Keys of other versions are left alone.
_KEYS = {
    **dict.fromkeys(("run_id", "built_at", "changed_in", "content", "columns"), _is_text),
    **dict.fromkeys(("definition", "inputs", "digests", "damaged"), _is_texts),
    "groups": _is_groups,
    "changes": _is_counts,
    "files": _is_files,
}


def load(folder: Path) -> tuple[dict[str, Any], str | None]:
    """Read the manifest of a table's folder.

    Returns:
        Its content, empty where it cannot be used; and why it cannot be used, None where it can or does not exist.
    """
    try:
        found = durable_files.read_object(folder / STAMP)
    except (FileNotFoundError, NotADirectoryError):
        return {}, None
    except OSError as error:
        return {}, error.strerror or "it cannot be read"
    except ValueError as error:
        return {}, str(error)
    wrong = [key for key, is_right in _KEYS.items() if key in found and not is_right(found[key])]
    return ({}, f"it has another type of value under {', '.join(wrong)}") if wrong else (found, None)


def read(folder: Path) -> dict[str, Any]:
    """The content of the manifest of a table's folder; empty where it cannot be used."""
    return load(folder)[0]


def write(folder: Path, manifest: Mapping[str, Any], draft: Path) -> None:
    """Write the manifest of a table's folder in place of an older one; a reader gets one of the two, complete.

    The warehouse syncs the manifest with the table's other files as it publishes them. A later manifest confirms that
    the table is unchanged, and is not synced: if a power cut leaves it empty, the next build makes its table anew.

    Args:
        folder: The table's.
        manifest: Its content.
        draft: Where it is written first, in the same file system.

    Raises:
        OSError: It cannot be written.
    """
    durable_files.write_text(folder / STAMP, json.dumps(manifest), draft, sync=False)
