"""Writes the folder of a report: this package's pages and scripts, and shards of data.

A page that is opened as a file may not fetch, but may load scripts, so each shard is a script that passes a value to
`tangles.add`. Texts of a log are escaped: they cannot break out of their strings.
"""

import contextlib
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbt_tangles.cli.page import escape_unprintable
from dbt_tangles.cli.tables import CommandError

#: The file that marks a folder as a report's.
MARK = "tangles-report.txt"
MOST_CHARACTERS = 400
_PAGE = "index.html"
_SOURCE = Path(__file__).parent
_CODE = "assets/report.js"
_SCRIPT = '<script src="{}"></script>\n'
_SCRIPTS = re.compile(_SCRIPT.format('([^"]+)'))
#: The prefix of the temporary folder in which a report is written.
_NEW = ".new-"
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def clean(text: str) -> str:
    """Truncate a text and escape its unprintable characters, including marks of text direction."""
    if len(text) <= MOST_CHARACTERS:
        return escape_unprintable(text)
    return escape_unprintable(text[:MOST_CHARACTERS]) + f"… ({len(text):,} characters)"


def safe(value: Any) -> Any:
    """Return a value with all its texts cleaned, and null for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {clean(str(key)): safe(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return clean(str(value))


def as_script(name: str, value: Any, is_clean: bool = False) -> str:
    """Write the value of a shard as a script that passes it to `tangles.add`, in ASCII, with HTML escaped.

    The texts of a value that `is_clean` are cut and escaped already.
    """
    text = json.dumps(value if is_clean else safe(value), separators=(",", ":"), allow_nan=False)
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return f"tangles.add({json.dumps(name)},{text});\n"


def _write_code(folder: Path) -> None:
    """Write the page, its style, and its scripts as one file: a browser opens one file faster than forty."""
    assets = _SOURCE / "assets"
    page = (assets / _PAGE).read_text(encoding="utf-8")
    scripts = [(_SOURCE / name).read_text(encoding="utf-8") for name in _SCRIPTS.findall(page)]
    page = _SCRIPTS.sub("", page).replace("</body>", f"{_SCRIPT.format(_CODE)}</body>")
    (folder / _PAGE).write_text(page, encoding="utf-8")
    (folder / _CODE).write_text("\n".join(['"use strict";', *scripts]), encoding="utf-8")
    shutil.copyfile(assets / "report.css", folder / "assets" / "report.css")
    shutil.copyfile(assets / "vendor" / "NOTICE", folder / "assets" / "NOTICE")


class Folder:
    """The folder of a report, a context manager: an older report stays complete until `publish` replaces it.

    `bytes` is the size of its data, and `shards` the number of its files of data.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = self.shards = 0
        with self._writing():
            if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MARK).is_file())):
                raise CommandError(f"{path}: not a report and not empty; name another folder with --out")
            path.mkdir(parents=True, exist_ok=True)
            (path / MARK).write_text("Written by `tangles report`, which replaces all of it.\n")
            for killed in path.glob(f"{_NEW}*"):  # left behind by a killed command
                shutil.rmtree(killed)
            # Inside the folder, because its parent may be another file system or belong to another user.
            self._new = Path(tempfile.mkdtemp(prefix=_NEW, dir=path))
            (self._new / "data").mkdir()
            (self._new / "assets").mkdir()
            _write_code(self._new)

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._new, ignore_errors=True)
        if not (self.path / _PAGE).exists():
            with contextlib.suppress(OSError):
                (self.path / MARK).unlink()
                self.path.rmdir()

    def write(self, name: str, value: Any, is_clean: bool = False) -> None:
        """Write a shard, see `as_script`; its name consists of a word of this package and a number."""
        text = as_script(name, value, is_clean)
        with self._writing():
            (self._new / "data" / f"{name}.js").write_text(text, encoding="ascii")
        self.bytes += len(text)
        self.shards += 1

    def publish(self) -> None:
        """Replace the old report by the new one: each part in one atomic step, the page last."""
        # Imported here, because it loads slowly.
        from dbt_spark_python.table_store.atomic_swap import replace_folder

        with self._writing():
            for part in ("data", "assets"):
                replace_folder(self._new / part, self.path / part, self._new / f"old_{part}")
            os.replace(self._new / _PAGE, self.path / _PAGE)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CommandError(f"{self.path}: cannot be written: {error}; name another folder with --out") from error
