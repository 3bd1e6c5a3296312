"""Writes a report as one HTML file for mail: its style, scripts and data inline, within a bound."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from dbt_tangles.cli.tables import CommandError

#: The most bytes of the file: 19 MB as an attachment in base64, which most mail servers accept.
MOST_BYTES = 14_000_000
#: The most bytes of the page, its style and its scripts.
CODE_BYTES = 350_000
_MARK = b'<meta name="generator" content="tangles report">'
_POLICY = "script-src 'self'; style-src 'self'"
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>\n')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_DRAWING = re.compile(r"([a-z]+)-(\d+)(-why|-read)?")
#: Shards `NAME-NUMBER` that are not about a drawing.
_INDEX = frozenset(("search", "locator"))


class Written(NamedTuple):
    """The size of a file in bytes, and the numbers of drawings that the report has and that the file leaves out."""

    bytes: int
    drawings: int
    left_out: int


def write(report: Path, file: Path, most: int) -> Written:
    """Write the folder of a report as one file, with the first drawings of each kind that fit.

    Args:
        report: The folder of the report.
        file: The file.
        most: The most bytes.

    Raises:
        CommandError: The file is not a report, it cannot be written, or the report does not fit without drawings.
    """
    if file.exists() and not (file.is_file() and _MARK in file.read_bytes()[:2000]):
        raise CommandError(f"{file}: not a report; name another file with --out")
    page = _inline_code(report)
    shards = {path.stem: _data_block(path) for path in sorted((report / "data").glob("*.js"))}
    drawings: dict[tuple[int, str], list[str]] = {}
    for name in shards:
        found = _DRAWING.fullmatch(name)
        if found and found[1] not in _INDEX:
            drawings.setdefault((int(found[2]), found[1]), []).append(name)
    of_drawings = {name for names in drawings.values() for name in names}
    kept = [block for name, block in shards.items() if name not in of_drawings]
    size = len(page) + sum(map(len, kept))
    if size > most:
        raise CommandError(
            f"{file}: the report without drawings has {size / 1e6:,.1f} MB, and a single file at most "
            f"{most / 1e6:,.1f} MB; give a smaller --limit, or write a folder, without --single-file"
        )
    left_out = 0
    for _, names in sorted(drawings.items()):  # The first of each kind, then the second, ...
        blocks = [shards[name] for name in names]
        if size + sum(map(len, blocks)) > most:
            left_out += 1
            continue
        size += sum(map(len, blocks))
        kept += blocks
    head, foot = page.split(_DATA)
    _replace(file, b"".join((head, *kept, foot)))
    return Written(size - len(_DATA), len(drawings), left_out)


#: Stands for the data until they are chosen.
_DATA = b"<!-- data -->\n"


def _inline_code(report: Path) -> bytes:
    """Return the page with its style, scripts and NOTICE inline; the content policy names them by their SHA-256."""
    page, digests = (report / "index.html").read_text(encoding="utf-8"), []

    def inline(tag: str, path: str) -> str:
        text = (report / path).read_text(encoding="utf-8")
        digests.append((tag, base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()))
        return f"<{tag}>{text}</{tag}>"

    notice = (report / "assets" / "NOTICE").read_text(encoding="utf-8")
    before = f'{_DATA.decode()}<script type="text/plain">{notice}</script>\n'
    page = page.replace('<script src="', f'{before}<script src="', 1)
    page = _STYLE.sub(lambda found: inline("style", found[1]), page)
    page = _SCRIPT.sub(lambda found: inline("script", found[1]) + "\n", page)
    sources = {tag: [f"'sha256-{digest}'" for each, digest in digests if each == tag] for tag in ("script", "style")}
    allowed = "; ".join(" ".join([f"{tag}-src", *found]) for tag, found in sources.items())
    return page.replace(_POLICY, allowed).encode()


def _data_block(path: Path) -> bytes:
    """Return a shard as a block of JSON that the browser does not run; its texts have no characters of HTML."""
    text = path.read_bytes()
    value = text[text.index(b",") + 1 : text.rindex(b")")]
    return b'<script type="application/json" data-shard="%s">%s</script>\n' % (path.stem.encode(), value)


def _replace(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, new = tempfile.mkstemp(prefix=".new-", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
            os.chmod(new, 0o644)
            os.replace(new, file)
        except BaseException:
            os.unlink(new)
            raise
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error}; name another file with --out") from error
