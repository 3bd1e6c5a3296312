"""Write a really signed SSB log in the shape of a real peer's.

    python -m bench.make_log --out peer.jsonl.gz                 # one peer: 617,362 messages in 9,286 feeds
    python -m bench.make_log --out big.jsonl.gz --scale 16 --files 16
    python -m bench.make_log --out small.jsonl --messages 5000

The figures are those that a user published of the log of a peer: the most common feed length is 3, the median 9, the
longest 20,080, and half of all messages come from 78 feeds. The rest is modelled:

* Feeds are active for a while, the longer the feed the longer; messages travel for seconds to days; lines stand in the
  order of receipt, which keeps the order of each feed.
* About 45 % are votes, contacts, abouts and encrypted messages, the rest are posts. Thread sizes follow a power law. A
  thread is of the legacy form (`root` and `branch`, a string or an array), of the named form (`tangles.thread`) or of
  both.
* What a post lists is what its author could know: mostly the tips, at times the tips of a little earlier, which forks
  the thread; who sees both branches merges them. Links only go to messages that were published before.
* One thread is 100,000 messages deep, written by the 40 longest feeds.
* One feed in twenty is replicated in part: its beginning, its end or a piece between is missing. What is missing was
  published all the same, so others may refer to it. Numbers of messages are numbers of lines.

The same arguments always write the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import math
import random
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from fixtures.ssb.author import Author, box, to_line

PEER_MESSAGES = 617_362
PEER_FEEDS = 9_286
PEER_LONGEST = 20_080
PEER_TOP_FEEDS = 78
PEER_DEPTH = 100_000

# How many feeds have a length of 1, 2, ... 9. The nines straddle the middle, so that the median is 9.
SHORT_FEEDS = (480, 620, 760, 640, 540, 480, 430, 390, 376)

DEEP_AUTHORS = 40
PARTIAL_FEEDS = 0.05
STALE = 0.12  # posts whose author has not seen the latest of the thread
STALE_IN_DEEP_THREAD = 0.03

BEGINNING = 1_430_000_000_000  # spring 2015, in milliseconds
DAY = 86_400_000
PERIOD = 1_460 * DAY
LONGEST_JOURNEY = 5 * DAY

VOTE, CONTACT, ABOUT, BOX, POST, DEEP_POST = range(6)
SHARES = {VOTE: 0.22, CONTACT: 0.12, ABOUT: 0.05, BOX: 0.06}


# ---------------------------------------------------------------------------------------------------------------------
# How long feeds are


def _bisect(sum_at: Callable[[float], float], low: float, high: float, wanted: float) -> float:
    """Return the last place at which an increasing function is below a value."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if sum_at(middle) < wanted else (low, middle)
    return low


def peer_lengths() -> np.ndarray:
    """Return the lengths of the peer's feeds, longest first, by a law that meets the published figures."""
    short = np.repeat(np.arange(len(SHORT_FEEDS), 0, -1), SHORT_FEEDS[::-1])
    half = PEER_MESSAGES / 2

    # The longest: a power law whose sum is half of all messages, by less than the last of these feeds.
    rank = np.arange(1, PEER_TOP_FEEDS + 1)
    slope = -_bisect(lambda x: (PEER_LONGEST * rank**x).sum(), -3.0, 0.0, half)
    top = np.ceil(PEER_LONGEST * rank**-slope)

    # Between them and the short ones: a parabola on logarithmic axes, bent to make up the total.
    count = PEER_FEEDS - len(top) - len(short)
    t = np.log(np.arange(1, count + 1) / count * (PEER_FEEDS / PEER_TOP_FEEDS) + 1)
    t = (t - t[0]) / (t[-1] - t[0])
    line = np.log(top[-1]) * (1 - t) + np.log(10) * t
    rest = PEER_MESSAGES - top.sum() - short.sum()
    bend = _bisect(lambda x: np.exp(line + x * t * (1 - t)).sum(), -20.0, 20.0, rest)
    middle = np.maximum(np.rint(np.exp(line + bend * t * (1 - t))), 10)
    missing = int(rest - middle.sum())
    middle[5 : 5 + abs(missing)] += np.sign(missing)  # rounding, spread over feeds of hundreds of messages
    return np.sort(np.concatenate([top, middle, short]).astype(np.int64))[::-1]


def feed_lengths(messages: int, feeds: int) -> np.ndarray:
    """Return feed lengths for any numbers of messages and feeds, longest first, in the shape of the peer's.

    Args:
        messages: What the lengths add up to.
        feeds: How many lengths; at most `messages`.
    """
    if not 0 < feeds <= messages:
        raise ValueError("there must be a feed, and no more feeds than messages")
    peer = peer_lengths()
    picked = peer[((np.arange(feeds) + 0.5) / feeds * len(peer)).astype(int)]
    if picked.sum() == messages:
        return picked
    # Short feeds stay as they are where that is possible; the long ones make up the total.
    long = picked > len(SHORT_FEEDS)
    if long.sum() + picked[~long].sum() > messages or not long.any():
        long[:] = True

    def stretched(factor: float) -> np.ndarray:
        return np.where(long, np.maximum(np.floor(picked * factor), 1), picked).astype(np.int64)

    factor = _bisect(lambda x: stretched(x).sum(), 0.0, float(messages), messages + 1)
    lengths = stretched(factor)
    missing = messages - int(lengths.sum())
    lengths[: missing % feeds] += 1
    lengths += missing // feeds
    return np.sort(lengths)[::-1]


# ---------------------------------------------------------------------------------------------------------------------
# Who publishes when


@dataclass
class Plan:
    """All that is drawn before the first message is signed.

    Attributes:
        lengths: The feeds' numbers of lines.
        hidden: For each feed, the first sequence that did not reach the log and the first after it that did.
        author: The feed of each message, in the order of publishing.
        at: When it is published.
        kind: What it is.
        depth: How deep the deep thread is to become.
    """

    lengths: np.ndarray
    hidden: np.ndarray
    author: np.ndarray
    at: np.ndarray
    kind: np.ndarray
    depth: int


def make_plan(messages: int, feeds: int, depth: int, seed: int) -> Plan:
    """Draw who publishes what when.

    Args:
        messages: Lines of the log.
        feeds: Feeds of the log.
        depth: Depth of the deep thread; less where its authors have not that many messages.
        seed: The seed of all that is drawn.
    """
    draw = np.random.default_rng(seed)
    lengths = feed_lengths(messages, feeds)
    deep_authors = min(DEEP_AUTHORS, feeds)

    # Partial replication, for feeds that are long enough to have a middle and take no part in the deep thread.
    able = np.flatnonzero(lengths >= 2)
    able = able[able >= deep_authors]
    partial = draw.choice(able, min(len(able), round(feeds * PARTIAL_FEEDS)), replace=False)
    hidden = np.zeros((feeds, 2), dtype=np.int64)
    for index, piece in zip(partial, draw.integers(0, 3, len(partial)), strict=True):
        length = lengths[index]
        first = (1, draw.integers(2, length + 1), length + 1)[piece]
        hidden[index] = first, first + min(1_000, max(1, round(length * 0.3)))
    totals = lengths + hidden[:, 1] - hidden[:, 0]

    span = np.minimum(1.0, 0.02 * totals**0.45) * draw.uniform(0.6, 1.0, feeds)
    start = draw.uniform(0.0, 1.0, feeds) * (1.0 - span)
    share = np.repeat(start, totals) + np.repeat(span, totals) * draw.random(int(totals.sum()))
    order = np.argsort(share, kind="stable")
    author = np.repeat(np.arange(feeds, dtype=np.int32), totals)[order]

    able = np.flatnonzero(author < deep_authors)
    # A few more than the depth, as those that fork add nothing to it.
    deep = draw.choice(able, min(round(depth * 1.1), int(len(able) * 0.95)), replace=False)
    others = len(author) - len(deep)
    # The deep thread is all posts, so the rest has the more of what is not.
    more = min(len(author) / others, 0.95 / sum(SHARES.values()))
    chances = [share * more for share in SHARES.values()]
    kind = draw.choice(len(SHARES) + 1, len(author), p=[*chances, 1 - sum(chances)]).astype(np.int8)
    kind[deep] = DEEP_POST
    return Plan(lengths, hidden, author, BEGINNING + share[order] * PERIOD, kind, depth)


# ---------------------------------------------------------------------------------------------------------------------
# What they write

SYLLABLES = "ba co da el fi go ha in jo ka lu ma no or pa qui ra so te un va wa xi yo ze sta tri ble cha ler mon ting"
FOREIGN = (
    "größe naïve café übrigens façade señor smörgås čaj język тропа лодка сад ветер 日本 海 森 歌 ボート さくら 바다 "
    "🐚 🌱 🌊 🦀 🔥 👩‍🌾 … “quoted” — ½ µm"
)


class Writer:
    """Draws texts: words of a made-up language, the first ones the most common."""

    def __init__(self, draw: random.Random):
        """Make the words."""
        self._draw = draw
        syllables, foreign = SYLLABLES.split(), FOREIGN.split()
        words = ["".join(draw.choices(syllables, k=draw.choice((1, 1, 2, 2, 2, 3, 4)))) for _ in range(3_000)]
        weights = [1 / rank for rank in range(3, 3 + len(words))]
        self._plain = self._pool(draw.choices(words, weights, k=100_000))
        self._mixed = self._pool(
            [draw.choice(foreign) if draw.random() < 0.15 else word for word in draw.choices(words, weights, k=20_000)]
        )
        self._bytes = draw.randbytes(1 << 20)

    def _pool(self, words: list[str]) -> list[str]:
        draw = self._draw
        for place in range(9, len(words), 11):
            words[place] += draw.choice((".", ",", "?", ".\n\n", " [a link](https://example.org)", "!"))
        return words

    def text(self) -> str:
        """Return a text of mostly 100 to 400 characters, one in thirty a long one."""
        draw = self._draw
        count = 1 + int(math.exp(draw.gauss(3.45, 0.6)))
        if draw.random() < 0.03:
            count = min(count * 8, 500)
        pool = self._mixed if draw.random() < 0.15 else self._plain
        place = int(draw.random() * (len(pool) - 500))
        return " ".join(pool[place : place + count])[:3_500]

    def name(self) -> str:
        """Return a name."""
        return self._plain[int(self._draw.random() * len(self._plain))]

    def box(self) -> str:
        """Return the content of an encrypted message."""
        place = int(self._draw.random() * (len(self._bytes) - 1_000))
        size = 200 + int(self._draw.expovariate(1 / 150)) % 800
        return box(self._bytes[place : place + size])


LEGACY, NAMED, BOTH = range(3)


class Thread:
    """A thread as it grows.

    Attributes:
        root: The id of its first message.
        form: Which links its messages carry.
        tips: The ids and depths of its latest messages.
        latest: Who wrote the last few messages, and what the tips were before.
        left: How many replies are still to come.
        pause: How many other posts there are between two of its own, on average.
        size: Its number of messages.
    """

    __slots__ = ("form", "latest", "left", "pause", "root", "size", "tips")

    def __init__(self, root: str, form: int, left: int, pause: float, author: int):
        """Start a thread with its root."""
        self.root = root
        self.form = form
        self.left = left
        self.pause = pause
        self.tips = [(root, 0)]
        self.latest = deque([(author, [])], maxlen=4)
        self.size = 1

    def known_to(self, author: int, stale: float, draw: random.Random) -> list[tuple[str, int]]:
        """Return the tips that an author knows of: the latest, or those before a few messages of others."""
        tips = self.tips
        if draw.random() < stale:
            behind = 1 + int(draw.random() * 3)
            for who, before in reversed(self.latest):
                if who == author or not before or not behind:
                    break
                tips = before
                behind -= 1
        return tips

    def add(self, author: int, key: str, known: list[tuple[str, int]]) -> int:
        """Add a message that lists what its author knew, and return its depth."""
        depth = 1 + max(tip[1] for tip in known)
        self.latest.append((author, self.tips))
        self.tips = [*(tip for tip in self.tips if tip not in known), (key, depth)]
        self.size += 1
        return depth


@dataclass
class Counts:
    """What was written."""

    lines: int = 0
    unwritten: int = 0
    votes: int = 0
    contacts: int = 0
    abouts: int = 0
    encrypted: int = 0
    posts: int = 0
    threads: int = 0
    forking_posts: int = 0
    merging_posts: int = 0
    largest_other_thread: int = 0
    deep_thread: dict[str, int] = field(default_factory=dict)


class Simulation:
    """Publishes a plan's messages one after the other."""

    def __init__(self, plan: Plan, seed: int):
        """Prepare; nothing is signed before :meth:`lines` is asked."""
        feeds = len(plan.lengths)
        self.plan = plan
        self.counts = Counts()
        self._seed = seed
        self._draw = draw = random.Random(seed)
        self._writer = Writer(draw)
        self._authors: list[Author | None] = [None] * feeds
        clocks = np.random.default_rng([seed, 1])
        # Most clocks are off by seconds, a few by hours.
        spread = np.where(clocks.random(feeds) < 0.03, 6 * 3_600_000.0, 2_000.0)
        self._skew = (clocks.normal(size=feeds) * spread).tolist()
        self._journey = np.exp(clocks.normal(math.log(7_200_000), 1.2, feeds)).tolist()
        self._asserted = [0.0] * feeds
        self._received = [0.0] * feeds
        self._recent: deque[str] = deque(maxlen=500)
        self._due: list[tuple[float, int, Thread]] = []
        self._deep: Thread | None = None
        self._deep_authors: set[int] = set()
        self._deep_depth = 0
        # Sizes of threads: a power law, up to a hundredth of all messages.
        law = np.cumsum(np.arange(1, max(10, min(5_000, len(plan.author) // 100)) + 1) ** -2.1)
        self._sizes = (law / law[-1]).tolist()

    def author(self, index: int) -> Author:
        """Return a feed by its index."""
        found = self._authors[index]
        if found is None:
            found = self._authors[index] = Author.from_seed(f"make_log/{self._seed}/{index}")
        return found

    def lines(self) -> Iterator[bytes]:
        """Publish everything; yield the lines that reached the log, in the order of receipt."""
        plan, counts, draw = self.plan, self.counts, self._draw
        hidden = plan.hidden.tolist()
        on_the_way: list[tuple[float, int, bytes]] = []
        chunk = 100_000
        number = 0
        for begin in range(0, len(plan.author), chunk):
            part = slice(begin, begin + chunk)
            rows = zip(plan.author[part].tolist(), plan.at[part].tolist(), plan.kind[part].tolist(), strict=True)
            for index, at, kind in rows:
                number += 1
                asserted = math.floor(max(at + self._skew[index], self._asserted[index] + 1))
                received = at + min(self._journey[index] * draw.expovariate(1.0), LONGEST_JOURNEY)
                received = math.floor(max(received, self._received[index] + 1))
                self._asserted[index], self._received[index] = asserted, received
                # Peers make timestamps unique by a fraction: most receive timestamps have one, few of the authors'.
                fraction = draw.random()
                if fraction < 0.79:
                    received += (1 + int(fraction * 1_260)) / 1_000
                if fraction > 0.97:
                    asserted += 0.001
                message = self._publish(index, kind, asserted, received)
                first, after = hidden[index]
                if first <= message["value"]["sequence"] < after:
                    counts.unwritten += 1
                    continue
                counts.lines += 1
                while on_the_way and on_the_way[0][0] <= at:
                    yield heapq.heappop(on_the_way)[2]
                heapq.heappush(on_the_way, (received, number, to_line(message)))
        while on_the_way:
            yield heapq.heappop(on_the_way)[2]
        if self._deep is not None:
            counts.deep_thread = {
                "messages": self._deep.size,
                "depth": self._deep_depth,
                "authors": len(self._deep_authors),
            }

    def _publish(self, index: int, kind: int, asserted: float, received: float) -> dict[str, Any]:
        counts, draw = self.counts, self._draw
        author = self.author(index)
        content: dict[str, Any] | str
        if kind >= POST:
            return self._post(index, author, kind == DEEP_POST, asserted, received)
        if kind == VOTE and self._recent:
            counts.votes += 1
            link = self._recent[int(draw.random() * len(self._recent))]
            content = {"type": "vote", "vote": {"link": link, "value": 1, "expression": "Like"}}
        elif kind == CONTACT:
            counts.contacts += 1
            other = self.author(int(draw.random() * len(self._authors)))
            content = {"type": "contact", "contact": other.feed_id, "following": draw.random() < 0.92}
        elif kind == BOX:
            counts.encrypted += 1
            content = self._writer.box()
        else:
            counts.abouts += 1
            content = {"type": "about", "about": author.feed_id, "name": self._writer.name()}
        return author.publish(content, asserted, received)

    def _post(self, index: int, author: Author, is_deep: bool, asserted: float, received: float) -> dict[str, Any]:
        counts, due = self.counts, self._due
        counts.posts += 1
        deep = self._deep
        if is_deep and deep is None:
            message = self._root(author, NAMED, asserted, received)
            self._deep = Thread(message["key"], NAMED, 0, 0, index)
            self._deep_authors.add(index)
        elif is_deep and self._deep_depth < self.plan.depth:
            message, depth = self._reply(deep, index, author, STALE_IN_DEEP_THREAD, asserted, received)
            self._deep_depth = max(self._deep_depth, depth)
            self._deep_authors.add(index)
        elif due and due[0][0] <= counts.posts:
            thread = heapq.heappop(due)[2]
            message, _ = self._reply(thread, index, author, STALE, asserted, received)
            thread.left -= 1
            if thread.left:
                self._schedule(thread)
            counts.largest_other_thread = max(counts.largest_other_thread, thread.size)
        else:
            size = 1 + bisect_left(self._sizes, self._draw.random())
            form = self._draw.choices((LEGACY, NAMED, BOTH), (60, 30, 10))[0]
            message = self._root(author, form, asserted, received)
            if size > 1:
                pause = math.exp(self._draw.gauss(4.5, 1.2))
                self._schedule(Thread(message["key"], form, size - 1, pause, index))
        self._recent.append(message["key"])
        return message

    def _schedule(self, thread: Thread) -> None:
        posts = self.counts.posts
        heapq.heappush(self._due, (posts + self._draw.expovariate(1 / thread.pause), posts, thread))

    def _root(self, author: Author, form: int, asserted: float, received: float) -> dict[str, Any]:
        self.counts.threads += 1
        content: dict[str, Any] = {"type": "post", "text": self._writer.text()}
        if form != NAMED and self._draw.random() < 0.2:
            content["root"] = None
        if form != LEGACY:
            content["tangles"] = {"thread": {"root": None, "previous": None}}
        return author.publish(content, asserted, received)

    def _reply(
        self, thread: Thread, index: int, author: Author, stale: float, asserted: float, received: float
    ) -> tuple[dict[str, Any], int]:
        draw, counts = self._draw, self.counts
        known = thread.known_to(index, stale, draw)
        previous = [tip[0] for tip in known]
        counts.merging_posts += len(previous) > 1
        counts.forking_posts += known is not thread.tips
        content: dict[str, Any] = {"type": "post", "text": self._writer.text()}
        if thread.form != NAMED:
            content["root"] = thread.root
            content["branch"] = previous[0] if len(previous) == 1 and draw.random() < 0.7 else previous
            content["mentions"] = []
        if thread.form != LEGACY:
            content["tangles"] = {"thread": {"root": thread.root, "previous": previous}}
        message = author.publish(content, asserted, received)
        return message, thread.add(index, message["key"], known)


# ---------------------------------------------------------------------------------------------------------------------
# Writing it down


def paths_for(out: Path, files: int) -> list[Path]:
    """Return the names of the files: the one given, or numbered ones."""
    if files == 1:
        return [out]
    stem, *suffixes = out.name.split(".")
    return [out.with_name(".".join([f"{stem}-{number:04}", *suffixes])) for number in range(1, files + 1)]


def write_lines(lines: Iterator[bytes], count: int, paths: list[Path]) -> int:
    """Write lines to files of (nearly) the same number of lines, one after the other.

    Args:
        lines: The lines.
        count: How many there are.
        paths: The files; those that end in `.gz` are compressed.

    Returns:
        The number of bytes before compression.
    """
    size = 0
    for number, path in enumerate(paths):
        share = (number + 1) * count // len(paths) - number * count // len(paths)
        with path.open("wb") as raw:
            # No name and no time in the header: the same log is the same file.
            file = gzip.GzipFile("", "wb", 3, raw, mtime=0) if path.suffix == ".gz" else raw
            for _, line in zip(range(share), lines, strict=False):
                size += file.write(line + b"\n")
            if file is not raw:
                file.close()
    return size


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; what is not given follows from the peer's figures."""
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
        # One of the two numbers alone stands for the other as well.
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
    """Write a log; return what is known of it."""
    chosen = parse_arguments(argv)
    began = time.process_time()
    plan = make_plan(chosen.messages, chosen.feeds, chosen.depth, chosen.seed)
    simulation = Simulation(plan, chosen.seed)
    lines = iter(tqdm(simulation.lines(), total=chosen.messages, unit=" lines", disable=chosen.quiet, smoothing=0))
    size = write_lines(lines, chosen.messages, paths_for(chosen.out, chosen.files))
    if next(lines, None) is not None:  # asking once more also lets the simulation finish its counts
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
