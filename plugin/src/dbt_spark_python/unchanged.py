"""Knows what would come out the same: a table whose code and inputs stand as they stood, a test of such tables.

Everything is compared by digests and nothing by time: of the code and settings of a node, of the packages it uses, of
the data files of the tables it reads, of the bytes of the logs it reads. So whatever went wrong in earlier runs, or was
left out of them, is made up for; and where one of these cannot be known, the node runs.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python import durable
from dbt_spark_python.integrity import digest_file
from dbt_spark_python.local_files import find_files
from dbt_spark_python.warehouse import Warehouse

#: Whose versions decide what comes of the same code.
_ENGINES = ("dbt-core", "dbt-spark", "pyspark", "pysail", "pyarrow", "numpy", "numba")
_TESTS = ".passed"


def digest_recipe(
    warehouse: Warehouse, recipe: str, inputs: Iterable[tuple[str, str]], reads: Mapping[str, Any]
) -> str | None:
    """Digest all that a node's outcome depends on.

    Args:
        warehouse: Where its inputs stand.
        recipe: Its code, its settings and the engine, as text.
        inputs: The tables it reads: schema and name.
        reads: What else it reads: `files`, paths or globs by the names users know them by; `variables`, names in the
            environment; `packages`, names of Python packages.

    Returns:
        A digest in hexadecimal digits; None where something that it reads cannot be known.
    """
    parts: list[Any] = [digest_way(recipe, reads)]
    for schema, name in inputs:
        content = warehouse.content_of(schema, name)
        if content is None:
            return None
        parts.append([schema, name, content])
    for name, path in (reads.get("files") or {}).items():
        content = digest_log(path, name) if path else ""
        if content is None:
            return None
        parts.append([name, content])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def digest_way(way: str, reads: Mapping[str, Any]) -> str:
    """Digest the way in which a node is made, whatever it is made of.

    Args:
        way: Its code, its settings and the engine, as text.
        reads: As for `digest_recipe`; of these the variables and packages count, and no file.
    """
    parts: list[Any] = [way, _versions()]
    parts += [[name, os.environ.get(name)] for name in reads.get("variables") or []]
    parts += [[name, digest_package(name)] for name in reads.get("packages") or []]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def digest_log(path: str, name: str) -> str | None:
    """Digest the names and bytes of the files that a path or glob leads to; None where they are not at hand."""
    try:
        found = find_files(path, name)
        stats = [(file, os.stat(file)) for file, _ in found.files]
        files = [[file, _digest_file(file, s.st_size, s.st_mtime_ns, s.st_ino)] for file, s in stats]
    except (ValueError, OSError):  # whoever reads it says so
        return None
    return hashlib.sha256(json.dumps([files, found.dangling]).encode()).hexdigest()


@functools.lru_cache(maxsize=100_000)
def _digest_file(file: str, size: int, changed: int, inode: int) -> str:
    """Digest a file, once in a process while all that is said of it stays."""
    return digest_file(Path(file))


@functools.cache
def digest_package(name: str) -> str:
    """Digest the files of an importable package; the name itself where there is none."""
    spec = importlib.util.find_spec(name)
    digest = hashlib.sha256(name.encode())
    for root in sorted(spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(root).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                content = file.read_bytes()
                digest.update(f"{file.relative_to(root).as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    found = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
    return {name: found[name] for name in _ENGINES if name in found} | {"plugin": digest_package(__package__)}


def has_passed(warehouse: Warehouse, schema: str, name: str, recipe: str) -> bool:
    """Whether a test has passed with this digest of its recipe."""
    return _read_passed(warehouse, schema, name).get("recipe") == recipe


def made_of_passed(warehouse: Warehouse, schema: str, name: str, way: str | None) -> dict[str, str] | None:
    """The contents of the tables with which a test passed, by name; None where it did not in this way."""
    noted = _read_passed(warehouse, schema, name)
    return noted.get("made_of") if noted.get("way") == way else None


def note_passed(
    warehouse: Warehouse,
    schema: str,
    name: str,
    recipe: str,
    way: str | None = None,
    made_of: Mapping[str, str] | None = None,
) -> None:
    """Note with what a test has passed; where that cannot be written it runs again.

    Args:
        warehouse: Where its tables are.
        schema: Of the test.
        name: Of the test.
        recipe: Digest of all that its outcome depends on.
        way: Digest of how it looks, whatever at.
        made_of: The digests of the contents of the tables that it looked at, by name.
    """
    place = _place_of_test(warehouse, schema, name)
    draft = warehouse.scratch / f"{place.name}.passed"
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"recipe": recipe, "way": way, "made_of": made_of}))
        draft.replace(place)


def _read_passed(warehouse: Warehouse, schema: str, name: str) -> dict[str, Any]:
    try:
        return durable.read_object(_place_of_test(warehouse, schema, name))
    except (OSError, ValueError):
        return {}


def _place_of_test(warehouse: Warehouse, schema: str, name: str) -> Path:
    return warehouse.root / _TESTS / hashlib.sha256(f"{schema.lower()} {name}".encode()).hexdigest()
