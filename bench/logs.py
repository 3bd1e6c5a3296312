"""Signed logs for the benchmarks, made once and kept under target/bench."""

import gzip
from itertools import islice
from pathlib import Path

from bench import make_log
from bench.report import RESULTS, say

FOLDER = RESULTS / "logs"


def signed_log(messages: int | None = None, suffix: str = ".jsonl") -> Path:
    """Make a log in the shape of a real peer's, unless it exists already.

    Args:
        messages: Its number of lines (default: the peer's).
        suffix: `.jsonl` or `.jsonl.gz`.
    """
    path = FOLDER / f"signed-{messages or make_log.PEER_MESSAGES}{suffix}"
    if not path.exists():
        say(f"signing the messages of {path.name}")
        unfinished = _unfinished(path)
        size = ["--messages", str(messages)] if messages else []
        make_log.main(["--out", str(unfinished), *size, "--quiet"])
        unfinished.rename(path)
    return path


def head(log: Path, fraction: float) -> Path:
    """Return the log, or for a fraction below 1 a log of that fraction of its lines, from the start."""
    if fraction >= 1:
        return log
    path = FOLDER / f"{fraction:g}-of-{log.name}"
    opener = gzip.open if log.suffix == ".gz" else open
    with opener(log, "rb") as lines:
        wanted = max(round(sum(1 for _ in lines) * fraction), 1)
    unfinished = _unfinished(path)
    with opener(log, "rb") as lines, opener(unfinished, "wb") as out:
        out.writelines(islice(lines, wanted))
    unfinished.rename(path)
    return path


def _unfinished(path: Path) -> Path:
    # The name marks an interrupted log; its end still tells how the file is compressed.
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f"unfinished-{path.name}")
