"""The manifest of a published table: the run that built it, its inputs, and its files or its snapshot.

In a warehouse of folders it is a file `<schema>.db/.manifests/<table>/<key>.json`, so that the table's own folder holds
data only; tables of Iceberg and Delta Lake have it in a property. The key is a digest of the names of the table's
files. A new table has new names, so its manifest is written before the table moves to its place, and counts from then
on. A manifest with an unexpected type of value is ignored: the table's origin is then unknown, and the next build
rebuilds the table.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store import durable_files
from dbt_spark_python.table_store.integrity import data_files
from dbt_spark_python.table_store.process_folder import utc_now
from dbt_spark_python.table_store.public_folders import Publication

FOLDER = ".manifests"  # beside the tables of a schema


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _has_only(kind: type, value: Any) -> bool:
    """Whether a value is null or an object whose values have one type; a boolean is no integer."""
    return value is None or (isinstance(value, dict) and all(type(each) is kind for each in value.values()))


def _is_groups(value: Any) -> bool:
    if not isinstance(value, dict):
        return value is None
    return _is_text(value.get("history")) and type(value.get("since")) is type(value.get("upto")) is int


def _is_files(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(facts, list) and [*map(type, facts)] == [int, int] for facts in value.values()
    )


#: The type checks of a manifest's values. Unknown keys are allowed.
_KEYS = {
    **dict.fromkeys(("run_id", "built_at", "changed_in", "content", "snapshot", "columns"), _is_text),
    **dict.fromkeys(("definition", "inputs", "digests", "damaged"), lambda value: _has_only(str, value)),
    "groups": _is_groups,
    "changes": lambda value: _has_only(int, value),
    "files": _is_files,
}


def describe(
    run_id: str, publication: Publication, before: Mapping[str, Any], content: str, changes: dict[str, int] | None
) -> dict[str, Any]:
    """Return the entries for a new table in the place of the one with the manifest `before`.

    A table with the same content, or with the same rows in other files, keeps the run and counts of its last change.
    """
    is_equal = before.get("content") == content or (changes is not None and not any(changes.values()))
    is_same = is_equal and before.get("changed_in")
    return {
        "run_id": run_id,
        "built_at": utc_now(),
        "changed_in": before["changed_in"] if is_same else run_id,
        **publication.origin(),
        "changes": before.get("changes") if is_same else changes,
        "content": content,
    }


def path_of(folder: Path) -> Path:
    """Return the path of the manifest of a published table.

    If the names of the table's files have changed since, it is the latest manifest of a table in this place.
    """
    path = _path(folder, (file.relative_to(folder).as_posix() for file in data_files(folder)))
    if path.exists() or not path.parent.is_dir():
        return path
    return max(path.parent.glob("*.json"), key=lambda each: each.lstat().st_mtime_ns, default=path)


def _path(folder: Path, files: Iterable[str]) -> Path:
    key = hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()[:32]
    return folder.parent / FOLDER / folder.name / f"{key}.json"


def load(folder: Path) -> tuple[dict[str, Any], str | None]:
    """Return the content of a published table's manifest, empty if it cannot be used, and the reason why it cannot.

    A missing manifest is empty without a reason.
    """
    if not folder.is_dir():
        return {}, None
    try:
        return parse(durable_files.read_text(path_of(folder)))
    except (FileNotFoundError, NotADirectoryError):
        return {}, None
    except OSError as error:
        return {}, error.strerror or "it cannot be read"
    except ValueError as error:
        return {}, str(error)


def parse(text: str) -> tuple[dict[str, Any], str | None]:
    """Return the manifest that a text contains as JSON, as `load` does."""
    try:
        found = durable_files.parse_object(text)
    except ValueError as error:
        return {}, str(error)
    wrong = [key for key, is_right in _KEYS.items() if key in found and not is_right(found[key])]
    return ({}, f"it has another type of value under {', '.join(wrong)}") if wrong else (found, None)


def read(folder: Path) -> dict[str, Any]:
    """Return the content of the manifest of a published table; empty if it cannot be used."""
    return load(folder)[0]


def write(folder: Path, manifest: Mapping[str, Any], draft: Path, is_new: bool = False) -> Path:
    """Write the manifest of the table in a public folder, and return its file; a reader gets the old or the new one.

    It is synced if the table is about to be published (`is_new`). A later manifest records that a run reused the table:
    if a power cut leaves it empty, the next build rebuilds the table. `draft` is a temporary path of the file system.
    """
    path = _path(folder, manifest["files"]) if is_new else path_of(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    durable_files.write_text(path, json.dumps(manifest), draft, sync=is_new)
    if is_new:
        durable_files.sync_folder(path.parent)
    return path


def remove_others(path: Path) -> None:
    """Remove the manifests of earlier tables in the place of the table with this manifest."""
    for each in path.parent.glob("*.json"):
        if each != path:
            each.unlink(missing_ok=True)
