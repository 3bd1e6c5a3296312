"""The verified chain of each feed (the classic feed tangle; docs/adr/001), in one pass and constant memory."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH

#: One row per usable message.
LINKS_SCHEMA = pa.schema(
    [("author", pa.string()), ("sequence", pa.int32()), ("message_id", pa.string()), ("previous_id", pa.string())]
)
#: One row per message of a chain.
CHAIN_SCHEMA = pa.schema([LINKS_SCHEMA.field(name) for name in ("author", "sequence", "message_id")])


class Link(NamedTuple):
    """A usable message of a feed, with the ids as claimed: a row of `LINKS_SCHEMA`."""

    author: str
    sequence: int
    message_id: str
    previous_id: str | None


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


def chain_batches(links: Iterable[Link]) -> Iterator[pa.RecordBatch]:
    """Find the chains of feeds.

    Args:
        links: The messages of whole feeds, sorted by author and sequence.

    Yields:
        Rows of `CHAIN_SCHEMA`.
    """
    chained = (link[:3] for _, feed in groupby(links, key=itemgetter(0)) for link in chain_of(feed))
    while rows := list(islice(chained, ROWS_PER_BATCH)):
        columns = [
            pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), CHAIN_SCHEMA, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=CHAIN_SCHEMA)


def chains_of_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Find the chains of a partition's feeds, as `chain_batches`, from rows of `LINKS_SCHEMA` in the same order."""
    columns = ([batch[name].to_pylist() for name in LINKS_SCHEMA.names] for batch in batches)
    return chain_batches(Link(*row) for batch in columns for row in zip(*batch, strict=True))
