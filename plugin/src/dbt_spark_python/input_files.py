"""Resolves a path or glob to files on this machine, as Spark's readers and Hadoop's globs do, and digests them.

An engine that reads this machine's disk reads these files (`session.local_disk`). The digest is the fingerprint of
such a log. This module imports neither an engine nor dbt.
"""

import functools
import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from dbt_spark_python.table_store.integrity import digest_file

_PATTERN_MARK = re.compile(r"[][{}*?\\]")


@dataclass(frozen=True)
class LocalFiles:
    """The files that a path leads to, and the names that lead to no file; all sorted by name."""

    files: list[tuple[str, int]]  # The regular files, with their sizes in bytes
    dangling: list[str]  # The links that lead nowhere
    irregular: list[str]  # Pipes, sockets and devices, and links to these. Opening one could block the reader
    places: list[str]  # Paths that lead to the same files if every folder among them is read with all folders below it


def find_files(path: str, name: str) -> LocalFiles:
    """Find the file or folder of exactly this name, or else the matches of a glob; folders are searched recursively.

    Args:
        path: A path, absolute or relative, or a URI that begins with `file:/`.
        name: The user's name for the path (a var), for error messages.

    Raises:
        ValueError: The path leads to no file, or it is on another machine.
        OSError: Permission to read a folder is missing.
    """
    if scheme := re.match("([^/:]+):/", path):
        if scheme[1] != "file":
            raise ValueError(
                f"{name}: {path!r} is on another machine, and only Spark reads such logs: copy it, or use Spark"
            )
        path = unquote(path.removeprefix("file:").removeprefix("//"))
    roots = [os.path.abspath(path)] if os.path.lexists(path) else glob(path) if _PATTERN_MARK.search(path) else []
    search = _Search()
    for root in roots:
        search.add_below(root)
    files, dangling, irregular = sorted(search.files.items()), sorted(search.dangling), sorted(search.irregular)
    if files:
        places = list(filter(os.path.exists, roots)) if search.is_plain else [file for file, _ in files]
        return LocalFiles(files, dangling, irregular, places)
    remedy = f"; name a file, a folder or a glob of files instead of {path!r}"
    if dangling:
        raise ValueError(f"{name}: dangling links are no files: {_some(dangling)}; restore their targets{remedy}")
    if irregular:
        raise ValueError(f"{name}: pipes, sockets and devices are no files: {_some(irregular)}{remedy}")
    cause = "names that begin with _ or . are hidden" if roots else "the path does not exist"
    raise ValueError(f"{name}: there is no file at {path!r} ({cause}); name a file, a folder or a glob")


def _some(paths: list[str]) -> str:
    return f"{', '.join(paths[:10])}{', …' if paths[10:] else ''}"


class _Search:
    """A search for the visible files at and below some paths.

    Attributes:
        is_plain: Whether a reader that follows every link to a folder finds the same files, each once.
    """

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.dangling: set[str] = set()
        self.irregular: set[str] = set()
        self.is_plain = True

    def add_below(self, root: str) -> None:
        """Add the visible files at a path and below it."""
        if not os.path.isdir(root):
            if not is_hidden(os.path.basename(root)):
                self._add(root)
            return
        seen = set()
        for folder, folders, files in os.walk(root, onerror=_fail, followlinks=True):
            if (place := os.path.realpath(folder)) in seen:  # links may form a cycle
                folders.clear()
                continue
            seen.add(place)
            links = {name: os.path.islink(os.path.join(folder, name)) for name in folders if not is_hidden(name)}
            self.is_plain &= not any(links.values())
            # Folders come before links, so that a file has the name without links if there is one.
            folders[:] = sorted(links, key=lambda name: (links[name], name))
            for name in files:
                if not is_hidden(name):
                    self._add(os.path.join(folder, name))

    def _add(self, file: str) -> None:
        if os.path.isfile(file):
            self.is_plain &= file not in self.files
            self.files[file] = os.stat(file).st_size
        elif os.path.exists(file):
            self.is_plain = False
            self.irregular.add(file)
        elif os.path.islink(file):
            self.dangling.add(file)


def uri(path: str) -> str:
    """Write an absolute path as Hadoop writes it in URIs."""
    return "file:" + "".join(
        quote(c, safe="/_-!.~'()*,;:$&+=@") if c < "\x7f" or unicodedata.category(c)[0] in "ZC" else c for c in path
    )


def _fail(error: OSError) -> None:
    raise error


def is_hidden(name: str) -> bool:
    """Whether Spark's readers skip a name."""
    return name.startswith(("_", "."))


def glob(pattern: str) -> list[str]:
    r"""List the paths that a glob matches: `*`, `?`, `[a-c]`, `[^a]`, `{a,b}`, and `\` to escape a character."""
    places = set()
    for plain in _alternatives(pattern):
        found = ["/" if plain.startswith("/") else os.path.abspath("")]
        for part in filter(None, plain.split("/")):
            matches = _component(part)
            found = [path for folder in found for path in _children(folder, part, matches)]
        places.update(map(os.path.normpath, found))
    return sorted(places)


def _children(folder: str, part: str, matches: Callable[[str], object]) -> list[str]:
    if part in (".", ".."):
        return [os.path.join(folder, part)]
    if not os.path.isdir(folder):
        return []
    return [os.path.join(folder, name) for name in os.listdir(folder) if matches(name)]


def _component(part: str) -> Callable[[str], object]:
    """Compile the pattern of one path component."""
    expression, at = "", 0
    while at < len(part):
        mark = part[at]
        end = part.find("]", at + 2) if mark == "[" else -1
        if mark == "\\" and at + 1 < len(part):
            expression, at = expression + re.escape(part[at + 1]), at + 2
        elif end > 0:
            inside = part[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            expression, at = expression + "[" + re.sub("^!", "^", inside) + "]", end + 1
        else:
            expression, at = expression + {"*": ".*", "?": "."}.get(mark, re.escape(mark)), at + 1
    return re.compile(expression, re.DOTALL).fullmatch


def _alternatives(pattern: str) -> list[str]:
    """Expand the braces of a glob; an unclosed brace stands for itself."""
    depth, opened, commas, at = 0, 0, [], 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "{":
            depth += 1
            if depth == 1:
                opened, commas = at, [at]
        elif pattern[at] == "," and depth == 1:
            commas.append(at)
        elif pattern[at] == "}" and depth:
            depth -= 1
            if not depth:
                ends = [*commas[1:], at]
                parts = [pattern[start + 1 : end] for start, end in zip(commas, ends, strict=True)]
                rest = _alternatives(pattern[at + 1 :])
                return [
                    pattern[:opened] + middle + tail
                    for part in parts
                    for middle in _alternatives(part)
                    for tail in rest
                ]
        at += 1
    return [pattern]


def digest_input(path: str, name: str) -> str | None:
    """Digest the names and bytes of the files that a path or glob leads to; None if they cannot be read."""
    try:
        found = find_files(path, name)
        stats = [(file, os.stat(file)) for file, _ in found.files]
        files = [[file, _digest_file(file, s.st_size, s.st_mtime_ns, s.st_ino)] for file, s in stats]
    except (ValueError, OSError):  # the reader of the log reports the error
        return None
    return hashlib.sha256(json.dumps([files, found.dangling, found.irregular]).encode()).hexdigest()


@functools.lru_cache(maxsize=100_000)
def _digest_file(file: str, size: int, changed: int, inode: int) -> str:
    """Digest a file, once per process as long as its size, time and inode stay the same."""
    return digest_file(Path(file))
