"""Resolves a path or glob to files on this machine, as Spark's readers and Hadoop's globs do, and digests them.

An engine that reads this machine's disk reads these files (`session.found_input`). The fingerprint of such a log is the
text that `digest_input` returns. This module imports neither an engine nor dbt.
"""

import fnmatch
import functools
import hashlib
import json
import os
import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote

#: A character that makes a path a glob, unless a file has exactly this name.
PATTERN_MARK = re.compile(r"[][{}*?\\]")
#: The fingerprint of a log of more files is a digest, so that the size of manifests is bounded.
MOST_NOTED_FILES = 1000


@dataclass(frozen=True)
class LocalFiles:
    """The files that a path leads to, and the names that lead to no file; all sorted by name."""

    files: list[tuple[str, int]]  # The regular files, with their sizes in bytes
    dangling: list[str]  # The links that lead nowhere
    irregular: list[str]  # Pipes, sockets and devices, and links to these. Opening one could block the reader
    places: list[str]  # Paths that lead to the same files if every folder among them is read with all folders below it


def find_files(path: str, name: str) -> LocalFiles:
    """Find the file or folder of exactly this name, or else the matches of a glob; folders are searched recursively.

    The path may be a URI that begins with `file:/`; errors have the user's name for the path (a var).

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
    roots = [os.path.abspath(path)] if os.path.lexists(path) else glob(path) if PATTERN_MARK.search(path) else []
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
    """A search for the visible files at and below some paths."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.dangling: set[str] = set()
        self.irregular: set[str] = set()
        self.is_plain = True  # Whether a reader that follows every link to a folder finds the same files, each once

    def add_below(self, root: str) -> None:
        """Add the visible files at a path and below it."""
        if not os.path.isdir(root):
            if not is_hidden(os.path.basename(root)):
                self._add(root)
            return
        seen = set()
        for folder, folders, files in os.walk(root, onerror=_raise, followlinks=True):
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


def _raise(error: OSError) -> None:
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
            found = [path for folder in found for path in _children(folder, part)]
        places.update(map(os.path.normpath, found))
    return sorted(places)


def _children(folder: str, part: str) -> list[str]:
    """List the paths in a folder that match one component of a glob."""
    if part in (".", ".."):
        return [os.path.join(folder, part)]
    if not os.path.isdir(folder):
        return []
    # In fnmatch, a class that excludes characters begins with `!`, and a class of one character escapes it.
    pattern = re.sub(r"\\(.)", r"[\1]", re.sub(r"(?<!\\)\[\^", "[!", part), flags=re.DOTALL)
    return [os.path.join(folder, name) for name in os.listdir(folder) if fnmatch.fnmatchcase(name, pattern)]


def _alternatives(pattern: str) -> list[str]:
    """Expand the braces of a glob, the innermost first; an unclosed brace stands for itself."""
    found = re.search(r"(?<!\\)\{((?:\\.|[^{}\\])*)\}", pattern)
    if not found:
        return [pattern]
    parts = re.split(r"(?<!\\),", found[1])
    return [each for part in parts for each in _alternatives(pattern[: found.start()] + part + pattern[found.end() :])]


def digest_input(path: str, name: str, before: str = "") -> str | None:
    """Write the fingerprint of a log: the names and bytes of its files; None if they cannot be read.

    The text is JSON: an entry for each file (see `_Noted`), the dangling links, and the irregular files. If the log has
    an earlier fingerprint, `before`, the same reading of the files serves `find_tails`, too.
    """
    try:
        found, earlier = find_files(path, name), _entries(before)
        files = {file: _note_file(file, earlier.get(file, _NO_BYTES)[0])[1] for file, _ in found.files}
    except (ValueError, OSError):  # the reader of the log reports the error
        return None
    text = json.dumps([files, found.dangling, found.irregular])
    return text if len(files) <= MOST_NOTED_FILES else hashlib.sha256(text.encode()).hexdigest()


class _Noted(NamedTuple):
    """The entry of a file in a fingerprint; the file may have grown since."""

    size: int
    digest: str  # Of its bytes
    lines: int
    is_ended: bool  # Whether the last line ends in a line feed


class Tail(NamedTuple):
    """The bytes that were added to a file's end."""

    path: str
    start: int  # The earlier size; 0 for a new file
    end: int  # The present size, as noted in the fingerprint
    lines: int  # The number of lines before `start`


def find_tails(before: str, now: str) -> list[Tail] | None:
    """Find the bytes that a log gained between two fingerprints, by file; an unchanged file has an empty tail.

    The result is None if the log has changed otherwise: a file is gone or has other bytes before its earlier end, or
    the last line there did not end in a line feed.
    """
    if not before.startswith("[") or not now.startswith("["):
        return None
    (earlier, *others_before), (files, *others) = json.loads(before), json.loads(now)
    if others != others_before or earlier.keys() - files.keys():
        return None
    tails = []
    for file, entry in files.items():
        size, noted = entry[0], _Noted(*earlier.get(file, _NO_BYTES))
        is_longer = noted.is_ended and noted.size <= size
        if [*noted] != entry and not (is_longer and noted == _note_file(file, noted.size)[0]):
            return None
        tails.append(Tail(file, noted.size, size, noted.lines))
    return tails


def _entries(fingerprint: str) -> dict[str, list]:
    """Return the entries of a fingerprint's files."""
    return json.loads(fingerprint)[0] if fingerprint.startswith("[") else {}


def _note_file(file: str, start: int) -> list[_Noted]:
    """Note a file's first bytes, up to a size, and all of them."""
    state = os.stat(file)
    return _read_file(file, start, state.st_size, state.st_mtime_ns, state.st_ino)


@functools.lru_cache(maxsize=100_000)
def _read_file(file: str, start: int, size: int, changed: int, inode: int) -> list[_Noted]:
    """Read a file, once per process as long as its size, time and inode stay the same."""
    digest, lines, end, read, noted = hashlib.sha256(), 0, b"\n", 0, []
    with open(file, "rb", buffering=0) as content:
        for limit in (start, size):
            while chunk := content.read(max(0, min(1 << 20, limit - read))):
                digest.update(chunk)
                lines, end, read = lines + chunk.count(b"\n"), chunk[-1:], read + len(chunk)
            is_ended = end == b"\n"
            noted.append(_Noted(read, digest.hexdigest(), lines + (not is_ended), is_ended))
    return noted


_NO_BYTES = _Noted(0, hashlib.sha256().hexdigest(), 0, True)
