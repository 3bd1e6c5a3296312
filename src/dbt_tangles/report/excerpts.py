"""Reads the beginnings of lines from the log files, as a build read them, without secrets."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timezone
from urllib.parse import unquote

_LONGEST = 300
_READ = 8 * _LONGEST
_MOST_LINES = 20_000_000
#: The base64 of 32 bytes outside of ids: perhaps the secret of a group.
_SECRET = re.compile(r"(?<![A-Za-z0-9+/_%@&-])[A-Za-z0-9+/_-]{43}=(?!\.)")


def read_excerpts(
    places: Iterable[tuple[str, int, str]], built: str | None, ssb_format: str
) -> dict[tuple[str, int, str], str]:
    """Read the beginnings of lines from files on this machine.

    Args:
        places: The file as the tables name it, the number of the line from 1, and the log: ssb, pzp, ...
        built: The start of the last build, in UTC. A file that changed since may have other lines, so it is not read.
        ssb_format: The var `ssb_log_format`.

    Returns:
        The texts by place, without lines of files that are elsewhere, gone or changed. Unprintable characters stay for
        the writer of the report to escape.
    """
    wanted: dict[tuple[str, str], set[int]] = defaultdict(set)
    for file, line, log in places:
        wanted[file, log].add(line)
    found = {}
    for (file, log), lines in wanted.items():
        path = _local_path(file)
        if built and path and _is_as_built(path, built):
            texts = _read_lines(path, lines, is_pretty=log == "ssb" and ssb_format == "pretty")
            found |= {(file, line, log): text for line, text in texts.items()}
    return found


def excerpt(raw: bytes) -> str:
    """Return the beginning of a line, with bytes that are not UTF-8 as escapes and possible secrets masked."""
    text = raw[:_READ].decode("utf-8", "backslashreplace")
    text = _SECRET.sub("[32 bytes, not shown]", text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _local_path(file: str) -> str | None:
    """Return the path of a file on this machine, from its name in the tables."""
    path = unquote(re.sub(r"^file:(//)?", "", file)) if file.startswith("file:") else file
    return path if os.path.isabs(path) and os.path.isfile(path) else None


def _is_as_built(path: str, built: str) -> bool:
    started = datetime.fromisoformat(built).replace(tzinfo=timezone.utc).timestamp()
    return os.stat(path).st_mtime <= started


def _read_lines(path: str, lines: set[int], is_pretty: bool) -> dict[int, str]:
    # Imported here, because the reader of logs loads slowly, and few reports need it.
    from dbt_tangles.lint.findings import SSB, reading_of
    from dbt_tangles.lint.log_files import LogFile, LogPathError, read_lines

    found, before = {}, 0
    try:
        for batch in read_lines(LogFile(path, path), reading_of(SSB, is_pretty)):
            raws = batch["raw"]
            for line in [line for line in lines if before < line <= before + len(raws)]:
                raw = raws[line - before - 1].as_py()
                if raw is not None:
                    found[line] = excerpt(raw)
            before += len(raws)
            if before >= min(max(lines), _MOST_LINES):
                break
    except LogPathError:
        pass  # The report shows the place and the reason without the text.
    return found
