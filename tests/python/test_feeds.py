"""Feeds of hostile structure: builds compared with a short plain version of the chain rule (feed_oracle)."""

import random
from collections import defaultdict

import pytest

from feed_oracle import chain_of
from fixtures.ssb.author import Author, Message, to_line
from lint_kit import feed_messages_of, feeds_of, findings_of

RANDOM_FEEDS = 200
POST = {"type": "post", "text": ""}
NOBODY = "%" + 43 * "A" + "=.sha256"
MAX_INT, MIN_INT = 2**31 - 1, -(2**31)


class Feed:
    """All messages signed with one key, in the log or lost."""

    def __init__(self, name: str):
        self.author = Author.from_seed(f"feed {name}")
        self.messages: list[Message] = []
        self.time = 0

    def write(self, writer: Author | None = None, count: int = 1, **place) -> Message:
        """Publish `count` different messages, optionally with a given `sequence` or `previous`."""
        for _ in range(count):
            self.time += 1
            self.messages.append((writer or self.author).publish(POST, self.time, **place))
        return self.messages[-1]

    def at(self, sequence: int) -> Message:
        """Return the first message that was published at a sequence."""
        return next(m for m in self.messages if m["value"]["sequence"] == sequence)

    def lose(self, *lost: Message) -> None:
        """Leave messages out of the log."""
        keys = {message["key"] for message in lost}
        self.messages = [message for message in self.messages if message["key"] not in keys]


def random_feed(name: str, rng: random.Random) -> Feed:
    """Write a feed from several devices that know only some of its messages; lose some messages."""
    feed = Feed(name)
    writers = [feed.author]
    lost = []
    for _ in range(rng.randrange(1, 30)):
        writer = writers[0] if rng.random() < 0.6 else rng.choice(writers)
        deed = rng.random()
        if deed < 0.75 or not feed.messages:
            feed.write(writer, rng.choice((1, 1, 2, 8)))
        elif deed < 0.85:
            known = [message for message in feed.messages if message["value"]["sequence"] < 1000]
            writers.append(feed.author.fork(rng.choice([None, *known])))
            first = feed.write(writers[-1])
            if rng.random() < 0.5:
                lost.append(first)
                feed.write(writers[-1], rng.choice((1, 3, 12)))
        else:
            sequence = rng.choice((-3, 0, 1, 1, 2, writer.sequence, writer.sequence + 1, writer.sequence + 2, MAX_INT))
            feed.write(sequence=sequence, previous=rng.choice([None, NOBODY, rng.choice(feed.messages)["key"]]))
    if rng.random() < 0.3:
        lost += rng.sample(feed.messages, rng.randrange(1, 3)) if len(feed.messages) > 2 else []
    feed.lose(*lost)
    return feed


class Feeds(dict):
    """Feeds by name."""

    def add(self, name: str, count: int = 0) -> Feed:
        """Start a feed with a number of messages."""
        self[name] = Feed(name)
        if count:
            self[name].write(count=count)
        return self[name]


def made_feeds() -> Feeds:
    """Write feeds of shapes that random feeds rarely have."""
    feeds = Feeds()
    feeds.add("one message", 1)
    feeds.add("without its first", 4).lose(feeds["without its first"].at(1))
    feeds.add("below one only").write(sequence=0, previous=None)
    feeds["below one only"].write(sequence=-1, previous=NOBODY)
    zero = feeds.add("starts at zero")
    first = zero.write(sequence=1, previous=zero.write(sequence=0, previous=None)["key"])
    zero.write(sequence=2, previous=first["key"])
    before_zero = feeds.add("zero before a sound chain", 3)
    before_zero.write(sequence=1, previous=before_zero.write(sequence=0, previous=None)["key"])
    two = feeds.add("two first messages", 3)
    two.write(two.author.fork(), 5)
    three = feeds.add("three branches of one message", 4)
    for _ in range(3):
        three.write(three.author.fork(three.at(2)), 3)
    feeds.add("first with previous").write(sequence=1, previous=NOBODY)
    feeds.add("second without previous", 1).write(sequence=2, previous=None)
    for nothing in (0, False, "", [], {}):
        odd = feeds.add(f"first with a previous that is no id: {nothing!r}")
        odd.write(sequence=2, previous=odd.write(sequence=1, previous=nothing)["key"])
    wrong = feeds.add("previous of the right message, wrong sequence", 2)
    wrong.write(sequence=4, previous=wrong.at(2)["key"])
    skipped = feeds.add("previous two before", 2)
    skipped.write(sequence=3, previous=skipped.at(1)["key"])
    stranger = feeds.add("previous by another author", 1)
    stranger.write(sequence=2, previous=feeds["one message"].at(1)["key"])

    # 32-bit integers wrap around: the least sequence lacks a predecessor.
    edges = feeds.add("the edges of 32 bits", 3)
    last = edges.write(sequence=MAX_INT, previous=NOBODY)
    edges.write(sequence=MAX_INT, previous=edges.at(3)["key"])
    edges.write(sequence=MIN_INT, previous=last["key"])
    return feeds


def naive_feed(messages: list[dict]) -> dict:
    """Return the expected row of `feeds` for a feed."""
    chain = chain_of(messages)
    last = chain[-1] if chain else None
    sequences = {message["sequence"] for message in messages}
    after = [message for message in messages if message["sequence"] == len(chain) + 1]
    following = [message for message in after if message["previous"] == last]
    if chain and len(chain) >= max(sequences):
        status = "complete" if len(chain) == len(messages) else "bad_link"
    elif not after:
        status = "gap"
    else:
        status = "forked" if following else "bad_link"
    known = max([s for s in sequences if s >= 1], default=0)
    return {
        "message_count": len(messages),
        "opaque_count": sum(type(message["content"]) is str for message in messages),
        "max_sequence": max(sequences),
        "verified_length": len(chain),
        "fork_sequence": len(chain) + 1 if following else None,
        "gap_sequence": next((s for s in range(1, min(known, 10_000)) if s not in sequences), None),
        "status": status,
        "latest_message_id": last,
    }


@pytest.fixture(scope="module")
def feeds() -> dict[str, Feed]:
    """Write all feeds; return them by name."""
    rng = random.Random(7)
    return made_feeds() | {f"random {i}": random_feed(f"random {i}", rng) for i in range(RANDOM_FEEDS)}


@pytest.fixture(scope="module")
def built(feeds, project):
    lines = [to_line(message) for feed in feeds.values() for message in feed.messages]
    random.Random(8).shuffle(lines)
    return project("hostile_feeds").given(ssb_log=lines).run("--select", "+feed_messages", "feed_next")


@pytest.fixture(scope="module")
def expected(feeds) -> dict[str, list[dict]]:
    """Return the distinct messages of each author."""
    messages = {
        message["key"]: message["value"] | {"key": message["key"]}
        for feed in feeds.values()
        for message in feed.messages
    }
    by_author = defaultdict(list)
    for message in messages.values():
        by_author[message["author"]].append(message)
    return by_author


def test_feeds(feeds, built, expected):
    names = {feed.author.feed_id: name for name, feed in feeds.items()}
    ours = {row.pop("author"): row for row in built.rows("feeds")}
    naive = {author: naive_feed(messages) for author, messages in expected.items()}
    assert ours.keys() == naive.keys()
    wrong = [(names[author], feed, ours[author]) for author, feed in naive.items() if ours[author] != feed]
    assert not wrong, (len(wrong), wrong[:3])


def test_feed_next_extends_the_chain(built, expected):
    """Messages made from `feed_next` extend the chain; forked feeds are absent from the table."""
    ours = {row["author"]: row for row in built.rows("feed_next")}
    for author, messages in expected.items():
        feed = naive_feed(messages)
        if feed["status"] == "forked":
            assert author not in ours
            continue
        row = ours.pop(author)
        following = {"key": "next", "sequence": row["sequence"], "previous": row["previous_id"]}
        assert row["status"] == feed["status"] and row["sequence"] == feed["verified_length"] + 1
        assert "next" in chain_of([*messages, following])
    assert not ours


def test_reasons_of_messages_off_the_chain(built, expected):
    ours = {row["message_id"]: (row["in_chain"], row["reason"]) for row in built.rows("feed_messages")}
    wrong = []
    for author, messages in expected.items():
        feed, chain = naive_feed(messages), set(chain_of(messages))
        for message in messages:
            sequence, following = message["sequence"], message["previous"] == feed["latest_message_id"]
            if message["key"] in chain:
                reason = None
            elif sequence <= feed["verified_length"]:
                reason = "off_chain"
            elif sequence > feed["verified_length"] + 1:
                reason = f"after_{feed['status']}"
            else:
                reason = "forked" if following else "bad_link"
            if ours.pop(message["key"]) != (reason is None, reason):
                wrong.append((author, sequence, reason))
    assert not wrong, wrong[:5]
    assert not ours


def test_lint_judges_feeds_as_a_build_does(built):
    assert feeds_of(findings_of("ssb", built.vars["ssb_log"])) == feed_messages_of(built)
