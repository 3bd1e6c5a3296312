"""The verified chain of each feed (the classic feed tangle; docs/adr/001), in one pass and constant memory."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from dbt_tangles.kernel_runtime.row_schema import Int32, batches_of_rows, rows_of


class Link(NamedTuple):
    """A usable message of a feed, with the ids as claimed."""

    author: str
    sequence: Int32
    message_id: str
    previous_id: str | None


class ChainLink(NamedTuple):
    """A message of a chain."""

    author: str
    sequence: Int32
    message_id: str


def chain_of(feed: Iterable[Link]) -> Iterator[Link]:
    """Yield the chain of a feed: from sequence 1, the one message of each sequence that follows the message before.

    The chain ends before the first sequence at which no message follows it, or several do.

    Args:
        feed: The messages of one author, sorted by sequence.
    """
    length, last = 0, None
    for sequence, messages in groupby(feed, key=itemgetter(1)):
        if sequence < 1:
            continue
        following = list(islice((message for message in messages if message.previous_id == last), 2))
        if sequence != length + 1 or len(following) != 1:
            return
        yield following[0]
        length, last = sequence, following[0].message_id


def chains_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Find the chains of feeds: rows of `ChainLink`, from rows of `Link` sorted by author and sequence."""
    return chain_batches(rows_of(batches, Link))


def chain_batches(links: Iterable[Link]) -> Iterator[pa.RecordBatch]:
    """Find the chains of feeds, as `chains_of`."""
    chains = (chain_of(feed) for _, feed in groupby(links, key=itemgetter(0)))
    return batches_of_rows(ChainLink, (link for chain in chains for link in chain))
