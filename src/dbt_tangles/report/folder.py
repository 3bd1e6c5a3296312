"""Writes the folder: pages and scripts of this package, and data that nothing of a log can leave.

A page that is opened as a file may not fetch, but may load scripts: each shard of data is one that hands over a value.
"""

from __future__ import annotations

import json
import math
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

from dbt_tangles.ask.page import plain
from dbt_tangles.ask.tables import AskError

#: What a folder has that a report was written to.
MARK = "tangles-report.txt"
MOST_CHARACTERS = 400
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def clean(text: str) -> str:
    """Cut a text, and write what is not printable in it, marks of direction among it, as escapes."""
    if len(text) <= MOST_CHARACTERS:
        return plain(text)
    return plain(text[:MOST_CHARACTERS]) + f"… ({len(text):,} characters)"


def safe(value: Any) -> Any:
    """Return a value with all its texts clean, and without numbers that JSON has not."""
    if isinstance(value, dict):
        return {clean(str(key)): safe(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return clean(str(value))


def as_script(name: str, value: Any) -> str:
    """Write a value as a script that hands it over: ASCII, without what HTML would read."""
    text = json.dumps(safe(value), separators=(",", ":"), allow_nan=False)
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return f"tangles.add({json.dumps(name)},{text});\n"


class Folder:
    """The folder of a report.

    Attributes:
        path: Where it is.
        bytes: What its data take.
        shards: How many files they are in.

    Raises:
        AskError: Something else is in its place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = self.shards = 0
        try:
            if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MARK).is_file())):
                raise AskError(f"{path}: there is something else; name another folder with --out")
            if path.exists():
                for part in ("data", "assets"):
                    shutil.rmtree(path / part, ignore_errors=True)
            (path / "data").mkdir(parents=True)
            (path / MARK).write_text("Written by `tangles report`, which replaces all of it.\n")
            source = resources.files("dbt_tangles.report") / "assets"
            with resources.as_file(source) as assets:
                shutil.copytree(assets, path / "assets", ignore=shutil.ignore_patterns("index.html"))
                shutil.copyfile(assets / "index.html", path / "index.html")
        except OSError as error:
            raise AskError(f"{path}: cannot be written: {error}") from error

    def write(self, name: str, value: Any) -> None:
        """Write a shard; its name is one of this package's, and a number."""
        text = as_script(name, value)
        try:
            (self.path / "data" / f"{name}.js").write_text(text, encoding="ascii")
        except OSError as error:
            raise AskError(f"{self.path}: cannot be written: {error}") from error
        self.bytes += len(text)
        self.shards += 1
