"""The kernel of feed chains: its rule on small feeds, and its time and reach on long ones."""

import time
from operator import itemgetter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.feed.chains import Link, chains_of
from dbt_tangles.kernel_runtime.row_schema import batches_of_rows
from feed_oracle import chain_of


def chains(feeds: dict[str, list[tuple]], batch_rows: int = 3) -> dict[str, list[tuple]]:
    """Find the chains of feeds by the kernel: sequences and ids by author."""
    rows = [Link(author, *message) for author in sorted(feeds) for message in sorted(feeds[author], key=itemgetter(0))]
    table = pa.Table.from_batches(batches_of_rows(Link, rows))
    found: dict[str, list[tuple]] = {}
    for batch in chains_of(table.to_batches(batch_rows)):
        for row in batch.to_pylist():
            found.setdefault(row["author"], []).append((row["sequence"], row["message_id"]))
    return found


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
