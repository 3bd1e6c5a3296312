"""Resolves a path or glob to files on this machine, as Spark's readers and Hadoop's globs do, and digests them.

Sail reads these files. The digest is the fingerprint of a log, on Spark too if Spark reads this machine's disk.
"""

import functools
import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail
from dbt_spark_python.session.progress import is_connect
from dbt_spark_python.table_store.integrity import digest_file

_PATTERN_MARK = re.compile(r"[][{}*?\\]")


@dataclass(frozen=True)
class LocalFiles:
    """The files that a path leads to, with their sizes in bytes, and the dangling links; both sorted by name."""

    files: list[tuple[str, int]]
    dangling: list[str]


def find_files(path: str, name: str) -> LocalFiles:
    """Find the file or folder of exactly this name, or else the matches of a glob; folders are searched recursively.

    Args:
        path: A path, absolute or relative, or a URI that begins with `file:/`.
        name: The user's name for the path (a var), for error messages.

    Raises:
        ValueError: The path leads nowhere, or it is on another machine.
        OSError: Permission to read a folder is missing.
    """
    if scheme := re.match("([^/:]+):/", path):
        if scheme[1] != "file":
            raise ValueError(f"{name}: Sail reads local files only, and {path!r} is remote: use Spark")
        path = unquote(path.removeprefix("file:").removeprefix("//"))
    roots = [os.path.abspath(path)] if os.path.lexists(path) else glob(path) if _PATTERN_MARK.search(path) else []
    found, dangling = {}, set()
    for file in (file for root in roots for file in _below(root)):
        if os.path.islink(file) and not os.path.exists(file):
            dangling.add(file)
        elif os.path.isfile(file):  # a pipe could block the reader
            found[file] = os.stat(file).st_size
    if found:
        return LocalFiles(sorted(found.items()), sorted(dangling))
    if dangling:
        raise ValueError(
            f"{name}: {path!r} has only dangling links: {', '.join(sorted(dangling)[:10])}; restore their targets, or "
            f"name another path"
        )
    cause = "names that begin with _ or . are hidden" if roots else "the path does not exist"
    raise ValueError(f"{name}: Sail does not find a file at {path!r} ({cause}); name a file, a folder or a glob")


def uri(path: str) -> str:
    """Write an absolute path as Hadoop writes it in URIs."""
    return "file:" + "".join(
        quote(c, safe="/_-!.~'()*,;:$&+=@") if c < "\x7f" or unicodedata.category(c)[0] in "ZC" else c for c in path
    )


def _below(root: str) -> Iterator[str]:
    """Yield the visible files at a path and below it."""
    if not os.path.isdir(root):
        if not is_hidden(os.path.basename(root)):
            yield root
        return
    seen = set()
    for folder, folders, files in os.walk(root, onerror=_fail, followlinks=True):
        if (place := os.path.realpath(folder)) in seen:  # links may form a cycle
            folders.clear()
            continue
        seen.add(place)
        folders[:] = [name for name in folders if not is_hidden(name)]
        yield from (os.path.join(folder, name) for name in files if not is_hidden(name))


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


def reads_this_disk(session: SparkSession | None) -> bool:
    """Whether an engine reads a path without a scheme on this machine's disk.

    A server of Spark Connect may run elsewhere, and a cluster's default file system may be another one. The same path
    may then lead to other files there.

    Args:
        session: The session of Python models; None if SQL goes to a server and there is no session beside it.
    """
    if session is None:
        return False
    if is_connect(session):
        return sail.is_sail(session)
    hadoop = session.sparkContext._jsc.hadoopConfiguration()
    return hadoop.get("fs.defaultFS", "file:///").startswith("file:")


def digest_input(path: str, name: str) -> str | None:
    """Digest the names and bytes of the files that a path or glob leads to; None if they cannot be read."""
    try:
        found = find_files(path, name)
        stats = [(file, os.stat(file)) for file, _ in found.files]
        files = [[file, _digest_file(file, s.st_size, s.st_mtime_ns, s.st_ino)] for file, s in stats]
    except (ValueError, OSError):  # the reader of the log reports the error
        return None
    return hashlib.sha256(json.dumps([files, found.dangling]).encode()).hexdigest()


@functools.lru_cache(maxsize=100_000)
def _digest_file(file: str, size: int, changed: int, inode: int) -> str:
    """Digest a file, once per process as long as its size, time and inode stay the same."""
    return digest_file(Path(file))
