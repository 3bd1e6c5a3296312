"""Write a really signed SSB log in the shape of a real peer's.

    python -m bench.make_log --out peer.jsonl.gz                 # one peer: 617,362 messages in 9,286 feeds
    python -m bench.make_log --out big.jsonl.gz --scale 16 --files 16
    python -m bench.make_log --out small.jsonl --messages 5000

A user published the figures of a peer's log: the most common feed length is 3, the median 9, the longest 20,080, and
half of all messages come from 78 feeds. The rest is modelled:

* Feeds are active for a while, longer feeds for longer. Messages travel for seconds to days. Lines are in the order of
  receipt, which keeps the order of each feed.
* About 45 % are votes, contacts, abouts and encrypted messages, the rest are posts. Thread sizes follow a power law. A
  thread is of the legacy form (`root` and `branch`, a string or an array), of the named form (`tangles.thread`) or of
  both.
* A post lists the tips that its author could know: mostly the latest, at times slightly older ones, which forks the
  thread; a later author merges the branches. Links only go to messages that were published before.
* One thread is 100,000 messages deep, written by the 40 longest feeds.
* One feed in twenty is replicated in part: its beginning, its end or a middle piece is missing. The missing messages
  were published, so others may refer to them. Numbers of messages are numbers of lines.

The same arguments always write the same bytes.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.log_lengths import PEER_FEEDS, PEER_MESSAGES
from bench.log_plan import make_plan
from bench.log_simulation import Simulation

PEER_DEPTH = 100_000


def paths_for(out: Path, files: int) -> list[Path]:
    """Return the names of the files: the given one, or numbered ones."""
    if files == 1:
        return [out]
    stem, *suffixes = out.name.split(".")
    return [out.with_name(".".join([f"{stem}-{number:04}", *suffixes])) for number in range(1, files + 1)]


def write_lines(lines: Iterator[bytes], count: int, paths: list[Path]) -> int:
    """Write lines to files of (nearly) the same number of lines, one after another.

    Args:
        lines: The lines.
        count: The number of lines.
        paths: The files; those that end in `.gz` are compressed.

    Returns:
        The number of bytes before compression.
    """
    size = 0
    for number, path in enumerate(paths):
        share = (number + 1) * count // len(paths) - number * count // len(paths)
        with path.open("wb") as raw:
            # The header has neither a name nor a time, so the same log gives the same file.
            file = gzip.GzipFile("", "wb", 3, raw, mtime=0) if path.suffix == ".gz" else raw
            for _, line in zip(range(share), lines, strict=False):
                size += file.write(line + b"\n")
            if file is not raw:
                file.close()
    return size


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line; defaults follow from the peer's figures."""
    parser = argparse.ArgumentParser(description="Write a signed SSB log in the shape of a real peer's.")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl or .jsonl.gz file")
    parser.add_argument("--messages", type=int, help=f"lines of the log (default {PEER_MESSAGES:,} x scale)")
    parser.add_argument("--feeds", type=int, help=f"feeds (default {PEER_FEEDS:,} x scale)")
    parser.add_argument("--scale", type=float, help="multiplies both: 16 is 16 peers, 0.01 a hundredth of one")
    parser.add_argument("--depth", type=int, help=f"depth of the deep thread (default {PEER_DEPTH:,} x scale up to 1)")
    parser.add_argument("--files", type=int, default=1, help="split the log into so many files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    chosen = parser.parse_args(argv)
    if chosen.scale is None:
        # A single number determines the other one too.
        given = [n / of for n, of in ((chosen.messages, PEER_MESSAGES), (chosen.feeds, PEER_FEEDS)) if n]
        chosen.scale = given[0] if given else 1.0
    chosen.messages = chosen.messages or round(PEER_MESSAGES * chosen.scale)
    chosen.feeds = chosen.feeds or max(1, round(PEER_FEEDS * chosen.scale))
    if chosen.depth is None:
        chosen.depth = round(PEER_DEPTH * min(1.0, chosen.messages / PEER_MESSAGES))
    if chosen.files < 1 or chosen.seed < 0 or chosen.depth < 0:
        parser.error("--files must be at least 1, --seed and --depth at least 0")
    if not 0 < chosen.feeds <= chosen.messages:
        parser.error("there must be a feed, and no more feeds than messages")
    return chosen


def main(argv: list[str] | None = None) -> dict[str, Any]:
    """Write a log; return its figures."""
    chosen = parse_arguments(argv)
    began = time.process_time()
    plan = make_plan(chosen.messages, chosen.feeds, chosen.depth, chosen.seed)
    simulation = Simulation(plan, chosen.seed)
    lines = iter(tqdm(simulation.lines(), total=chosen.messages, unit=" lines", disable=chosen.quiet, smoothing=0))
    size = write_lines(lines, chosen.messages, paths_for(chosen.out, chosen.files))
    if next(lines, None) is not None:  # a last call lets the simulation finish its counts
        raise RuntimeError("more lines than planned")
    return {
        "feeds": chosen.feeds,
        "longest_feed": int(plan.lengths[0]),
        "partial_feeds": int((plan.hidden[:, 1] > 0).sum()),
        "bytes": size,
        "cpu_seconds": round(time.process_time() - began, 1),
        **vars(simulation.counts),
    }


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
