"""Draw the authors, times and kinds of all messages of a log, before the first is signed."""

from dataclasses import dataclass

import numpy as np

from bench.log_lengths import feed_lengths

DEEP_AUTHORS = 40
PARTIAL_FEEDS = 0.05

BEGINNING = 1_430_000_000_000  # spring 2015, in milliseconds
DAY = 86_400_000
PERIOD = 1_460 * DAY

VOTE, CONTACT, ABOUT, BOX, POST, DEEP_POST = range(6)
SHARES = {VOTE: 0.22, CONTACT: 0.12, ABOUT: 0.05, BOX: 0.06}


@dataclass
class Plan:
    """All random choices before the first message is signed.

    Attributes:
        lengths: The number of lines of each feed.
        hidden: For each feed, the first sequence that did not reach the log and the first one after it that did.
        author: The feed of each message, in the order of publishing.
        at: The time of publishing, in milliseconds.
        kind: The kind of each message.
        depth: The intended depth of the deep thread.
    """

    lengths: np.ndarray
    hidden: np.ndarray
    author: np.ndarray
    at: np.ndarray
    kind: np.ndarray
    depth: int


def make_plan(messages: int, feeds: int, depth: int, seed: int) -> Plan:
    """Draw the author, time and kind of each message.

    Args:
        messages: The number of lines.
        feeds: The number of feeds.
        depth: The depth of the deep thread; less if its authors have fewer messages.
        seed: The seed of the random generator.
    """
    draw = np.random.default_rng(seed)
    lengths = feed_lengths(messages, feeds)
    deep_authors = min(DEEP_AUTHORS, feeds)

    # Partial replication, for feeds that are long enough to have a middle and have no part in the deep thread.
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
    # A few more than the depth, because forking posts do not deepen the thread.
    deep = draw.choice(able, min(round(depth * 1.1), int(len(able) * 0.95)), replace=False)
    others = len(author) - len(deep)
    # The deep thread consists of posts, so the other messages have a larger share of the other kinds.
    more = min(len(author) / others, 0.95 / sum(SHARES.values()))
    chances = [share * more for share in SHARES.values()]
    kind = draw.choice(len(SHARES) + 1, len(author), p=[*chances, 1 - sum(chances)]).astype(np.int8)
    kind[deep] = DEEP_POST
    return Plan(lengths, hidden, author, BEGINNING + share[order] * PERIOD, kind, depth)
