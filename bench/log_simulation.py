"""Sign the messages of a plan one after another, and yield their lines in the order of receipt."""

import heapq
import math
import random
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.log_plan import BOX, CONTACT, DAY, DEEP_POST, POST, VOTE, Plan
from bench.log_texts import Writer
from bench.log_threads import BOTH, LEGACY, NAMED, Thread
from fixtures.ssb.author import Author, to_line

STALE = 0.12  # posts whose author has not seen the latest messages of the thread
STALE_IN_DEEP_THREAD = 0.03
LONGEST_JOURNEY = 5 * DAY


@dataclass
class Counts:
    """The numbers of written messages."""

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
    """Publishes a plan's messages one after another."""

    def __init__(self, plan: Plan, seed: int):
        """Prepare; :meth:`lines` signs the messages."""
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
        # Thread sizes follow a power law, up to a hundredth of all messages.
        law = np.cumsum(np.arange(1, max(10, min(5_000, len(plan.author) // 100)) + 1) ** -2.1)
        self._sizes = (law / law[-1]).tolist()

    def author(self, index: int) -> Author:
        """Return a feed by its index."""
        found = self._authors[index]
        if found is None:
            found = self._authors[index] = Author.from_seed(f"make_log/{self._seed}/{index}")
        return found

    def lines(self) -> Iterator[bytes]:
        """Publish all messages; yield the lines that reached the log, in the order of receipt."""
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
                # Peers make timestamps unique by a fraction: most receive timestamps have one, and few of the authors'.
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
