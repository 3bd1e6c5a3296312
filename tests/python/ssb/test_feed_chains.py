"""The kernel of feed chains: its rule on small feeds, and its time and reach on long ones."""

import time
from operator import itemgetter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.feed.chains import CHAIN_SCHEMA, LINKS_SCHEMA, chains_of_partition
from feed_oracle import chain_of

#: Messages of one feed: sequence, id, previous id.
FEEDS = {
    "fork": [(1, "a1", None), (2, "a2", "a1"), (3, "a3", "a2"), (3, "x3", "a2"), (4, "a4", "a3")],
    "two first messages": [(1, "r1", None), (1, "r2", None), (2, "s2", "r1")],
    "gap": [(1, "g1", None), (3, "g3", "g2"), (4, "g4", "g3")],
    "bad link": [(1, "b1", None), (2, "b2", "other"), (3, "b3", "b2")],
    "without its first": [(2, "l2", "l1"), (3, "l3", "l2")],
    "first with previous": [(1, "p1", "other"), (2, "p2", "p1")],
    "from zero": [(0, "z0", None), (1, "z1", "z0"), (1, "y1", None), (2, "y2", "y1")],
    # The first message of a fork (x2) is lost: x3 is disconnected, x4 and x5 follow it, beside the chain a1 to a6.
    "beside a lost fork": [
        *((1, "a1", None), (2, "a2", "a1"), (3, "a3", "a2"), (3, "x3", "x2"), (4, "a4", "a3"), (4, "x4", "x3")),
        *((5, "a5", "a4"), (5, "x5", "x4"), (6, "a6", "a5"), (7, "a7", "a6"), (7, "b7", "a6")),
    ],
}
CHAINS = {
    "fork": ["a1", "a2"],
    "gap": ["g1"],
    "bad link": ["b1"],
    "from zero": ["y1", "y2"],
    "beside a lost fork": ["a1", "a2", "a3", "a4", "a5", "a6"],
}


def chains(feeds: dict[str, list[tuple]], batch_rows: int = 3) -> dict[str, list[tuple]]:
    """Find the chains of feeds by the kernel: sequences and ids by author."""
    rows = [(author, *message) for author in sorted(feeds) for message in sorted(feeds[author], key=itemgetter(0))]
    table = pa.Table.from_pydict(dict(zip(LINKS_SCHEMA.names, zip(*rows, strict=True), strict=True)), LINKS_SCHEMA)
    found: dict[str, list[tuple]] = {}
    for batch in chains_of_partition(table.to_batches(batch_rows)):
        assert batch.schema == CHAIN_SCHEMA
        for author, sequence, message in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(author, []).append((sequence, message))
    return found


def test_chains_of_small_feeds():
    """A chain ends before a fork, a gap or a bad link, and continues beside a fork without its first message."""
    assert chains(FEEDS) == {author: list(enumerate(chain, 1)) for author, chain in CHAINS.items()}


def test_no_messages():
    assert list(chains_of_partition([])) == []


IDS = st.sampled_from([f"{letter}{sequence}" for letter in "abc" for sequence in range(5)])


@given(st.lists(st.dictionaries(IDS, st.one_of(st.none(), IDS), min_size=1), min_size=1, max_size=3))
def test_chains_of_random_feeds(feeds):
    named = {
        str(number): [(int(key[1:]), key, previous) for key, previous in feed.items()]
        for number, feed in enumerate(feeds)
    }
    found = chains(named)
    for author, feed in named.items():
        messages = [{"sequence": sequence, "key": key, "previous": previous} for sequence, key, previous in feed]
        assert [message for _, message in found.get(author, [])] == chain_of(messages)


@pytest.mark.parametrize("branches", [2, 20], ids="{} branches".format)
def test_a_forged_feed_takes_linear_time(branches):
    """Branches beside the chain, each without its first message, cost one pass; a chain has no greatest length."""
    length = 200_000 // branches
    feed = [
        (sequence, f"{branch}-{sequence}", f"{branch}-{sequence - 1}" if sequence > 1 else None)
        for branch in range(branches)
        for sequence in range(1 if branch == 0 else 2, length + 1)
    ]
    begin = time.process_time()
    found = chains({"forged": feed}, 10_000)
    assert [message for _, message in found["forged"]] == [f"0-{sequence}" for sequence in range(1, length + 1)]
    assert time.process_time() - begin < 5
