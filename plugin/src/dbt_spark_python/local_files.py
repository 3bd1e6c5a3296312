"""The files on this machine that a path leads to, by the rules of Spark's readers and Hadoop's globs."""

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

from dbt_spark_python.table_store.integrity import digest_file

_PATTERN_MARK = re.compile(r"[][{}*?\\]")


@dataclass(frozen=True)
class LocalFiles:
    """What a path leads to: files with their sizes in bytes, and links that lead nowhere; in order of their names."""

    files: list[tuple[str, int]]
    dangling: list[str]


def find_files(path: str, name: str) -> LocalFiles:
    """Find what has exactly this name, or else what a glob matches; folders with all they hold.

    Args:
        path: A path, absolute or not, or a URI that begins with `file://`.
        name: What the user calls it, for errors.

    Raises:
        ValueError: There is no file, or it is not on this machine.
        OSError: A folder must not be read.
    """
    if scheme := re.match("([^/:]+)://", path):
        if scheme[1] != "file":
            raise ValueError(f"{name}: Sail reads logs on this machine, and {path!r} is not: use Spark")
        path = unquote(path.removeprefix("file://"))
    roots = [os.path.abspath(path)] if os.path.lexists(path) else glob(path) if _PATTERN_MARK.search(path) else []
    found, dangling = {}, set()
    for file in (file for root in roots for file in _below(root)):
        if os.path.islink(file) and not os.path.exists(file):
            dangling.add(file)
        elif os.path.isfile(file):  # and no pipe, which could keep a reader waiting
            found[file] = os.stat(file).st_size
    if found:
        return LocalFiles(sorted(found.items()), sorted(dangling))
    if dangling:
        raise ValueError(f"{name}: nothing at {path!r} but links that lead nowhere: {', '.join(sorted(dangling)[:10])}")
    cause = "names that begin with _ or . are hidden" if roots else "there is nothing of that name"
    raise ValueError(f"{name}: Sail finds no file at {path!r} ({cause})")


def uri(path: str) -> str:
    """An absolute path as Hadoop writes it in URIs."""
    return "file:" + "".join(
        quote(c, safe="/_-!.~'()*,;:$&+=@") if c < "\x7f" or unicodedata.category(c)[0] in "ZC" else c for c in path
    )


def _below(root: str) -> Iterator[str]:
    """List what is not hidden at a place and below."""
    if not os.path.isdir(root):
        if not is_hidden(os.path.basename(root)):
            yield root
        return
    seen = set()
    for folder, folders, files in os.walk(root, onerror=_fail, followlinks=True):
        if (place := os.path.realpath(folder)) in seen:  # links may lead in circles
            folders.clear()
            continue
        seen.add(place)
        folders[:] = [name for name in folders if not is_hidden(name)]
        yield from (os.path.join(folder, name) for name in files if not is_hidden(name))


def _fail(error: OSError) -> None:
    raise error


def is_hidden(name: str) -> bool:
    """Whether Spark's readers pass over a name."""
    return name.startswith(("_", "."))


def glob(pattern: str) -> list[str]:
    r"""List the paths that a glob matches: `*`, `?`, `[a-c]`, `[^a]`, `{a,b}`, and `\` before what is meant."""
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
    """Compile the pattern of one name."""
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
    """Write out the braces of a glob; one that is not closed stands for itself."""
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
