"""Missing, returned and dropped members of the epochs of a private group.

Peers expect a feed in an epoch if the epoch or an ancestor adds it and no strict ancestor excludes it. An expected feed
that the epoch does not add is *missing*. Peers count an exclude for ever: a feed that an epoch adds although a strict
ancestor excludes it has *returned*, which they report as well, and they do not expect it in later epochs.

By the right rule an exclude removes only the adds that it can see (an add-wins set): an add of an epoch R stands in a
later epoch E unless R, or an epoch on a path from R to E, E itself not counted, excludes the feed. E has *dropped* a
feed if an add of it in an ancestor still stands, a strict ancestor excludes it, and E does not add it. Only the first
such epoch on each path is listed.

Source: ssb-tribes2, `getMissingMembers`; private group specification, 4.9, for the right members. The definition by
paths is this project's.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dbt_tangles.algorithms.private_group.epochs import Epoch

#: The bits of a block; a wider column is a block of its own.
WIDTH = 4096


class Limits(NamedTuple):
    """The bounds on the work for one group."""

    steps: int = 2**33  # of some nanoseconds each
    bits: int = 2**30  # of a kind that are held at once
    missing: int = 10_000_000  # the missing feeds that are listed, all epochs together
    dropped: int = 10_000_000  # the dropped feeds, all epochs together


LIMITS = Limits()


class Changes(NamedTuple):
    """How the members of an epoch differ from the expected ones."""

    missing: list[int]  # the missing feeds that no message of the epoch names
    missing_excluded: set[int]  # the missing feeds that the epoch excludes
    returned: set[int]


class Dropped(NamedTuple):
    """A feed that an epoch drops."""

    epoch: int
    feed: int
    added_in: int  # of the epochs whose add of the feed still stands, the last
    excluded_in: int  # of the strict ancestors that exclude the feed, the last


class MemberChanges(NamedTuple):
    """The differences in all epochs of a group."""

    epochs: list[Changes]
    missing_counts: list[int]  # by epoch
    are_missing_listed: bool  # otherwise `Changes.missing` is empty
    dropped: Iterator[Dropped]


class _Column(NamedTuple):
    """A feed in a block: a bit for the feed; if it is excluded too, one for each add and then for each exclude."""

    feed: int
    added: list[int]  # the epochs that add the feed
    excluded: list[int]
    first: int  # its first bit in the block
    known: int  # the bits of the feed and of its adds
    end: int  # the bit after its last


def find_changes(epochs: Sequence[Epoch], limits: Limits) -> MemberChanges | None:
    """Find the missing, returned and dropped feeds of a group; None beyond the limits.

    Blocks of feeds are swept from the root to the tips: a group costs (bits / 64) * (epochs + edges) steps.
    """
    blocks = _blocks(epochs, min(WIDTH, limits.bits // len(epochs)))
    size = len(epochs) + sum(len(epoch.previous) for epoch in epochs)
    ends = [block[-1].end for block in blocks]
    if size * sum(-(-end // 64) for end in ends) > limits.steps or len(epochs) * max(ends, default=0) > limits.bits:
        return None
    changes = [Changes([], set(), set()) for _ in epochs]
    counts = [0] * len(epochs)
    total = dropped = 0
    for block in blocks:
        columns = _by_bit(block)
        for number, bits in enumerate(_sweep(epochs, block)):
            found = changes[number]
            found.returned.update(columns[bit].feed for bit in _ones(bits.returned))
            found.missing_excluded.update(columns[bit].feed for bit in _ones(bits.missing & bits.excluded))
            counts[number] += bits.missing.bit_count()
            total += bits.missing.bit_count()
            if total <= limits.missing:
                found.missing.extend(columns[bit].feed for bit in _ones(bits.missing & ~bits.excluded))
            dropped += sum(1 for _ in _dropped(number, bits, columns))
            if dropped > limits.dropped:
                return None
    if total > limits.missing:
        changes = [found._replace(missing=[]) for found in changes]
    return MemberChanges(changes, counts, total <= limits.missing, _all_dropped(epochs, blocks if dropped else []))


def _all_dropped(epochs: Sequence[Epoch], blocks: Sequence[Sequence[_Column]]) -> Iterator[Dropped]:
    """Sweep the blocks again for the dropped feeds, of which there may be many more than messages."""
    for block in blocks:
        columns = _by_bit(block)
        for number, bits in enumerate(_sweep(epochs, block)):
            yield from _dropped(number, bits, columns)


def _by_bit(block: Sequence[_Column]) -> list[_Column]:
    return [column for column in block for _ in range(column.first, column.end)]


def _blocks(epochs: Sequence[Epoch], width: int) -> list[list[_Column]]:
    """Arrange the feeds that are added in blocks of at most `width` bits; a wider column is alone."""
    added, excluded = defaultdict(list), defaultdict(list)
    for number, epoch in enumerate(epochs):
        for feed in epoch.added:
            added[feed].append(number)
        for feed in epoch.excluded:
            excluded[feed].append(number)
    blocks: list[list[_Column]] = []
    for feed, adding in added.items():
        excluding = excluded.get(feed, [])
        adds = len(adding) if excluding else 0
        first = blocks[-1][-1].end if blocks else width
        if first + 1 + adds + len(excluding) > width:
            blocks.append([])
            first = 0
        known = ((2 << adds) - 1) << first
        blocks[-1].append(_Column(feed, adding, excluding, first, known, first + 1 + adds + len(excluding)))
    return blocks


class _Bits(NamedTuple):
    """The bits of an epoch in a block."""

    excluded: int  # the feeds that it excludes
    missing: int  # feeds
    returned: int  # feeds
    banned: int  # the feeds that strict ancestors exclude, and these excludes
    lost: int  # the adds of dropped feeds that still stand
    newly_lost: int  # those that no previous epoch has lost


def _sweep(epochs: Sequence[Epoch], block: Sequence[_Column]) -> Iterator[_Bits]:
    """Compute the bits of each epoch from those of its previous epochs."""
    own, added, excluded = defaultdict(int), defaultdict(int), defaultdict(int)
    feeds = 0
    for column in block:
        feeds |= 1 << column.first
        for place, number in enumerate(column.added):
            own[number] |= ((1 | (2 << place)) if column.excluded else 1) << column.first
            added[number] |= column.known
        for bit, number in enumerate(column.excluded, column.end - len(column.excluded)):
            excluded[number] |= column.known | 1 << bit
    # By epoch, for its followers: all adds, those that were removed, the excluded feeds and excludes, the lost adds.
    known, removed, banned, lost = [], [], [], []
    for number, epoch in enumerate(epochs):
        up, gone, ever, before = own[number], 0, 0, 0
        for previous in epoch.previous:
            up |= known[previous]
            gone |= removed[previous]
            ever |= banned[previous]
            before |= lost[previous]
        adding, excluding = added[number], excluded[number]
        known.append(up)
        removed.append(gone | up & excluding)
        banned.append(ever | excluding)
        absent = up & ~adding
        lost.append(absent & ever & ~gone & ~feeds)
        yield _Bits(excluding, absent & ~ever & feeds, adding & ever & feeds, ever, lost[-1], lost[-1] & ~before)


def _dropped(number: int, bits: _Bits, columns: Sequence[_Column]) -> Iterator[Dropped]:
    """List the feeds that an epoch is the first to drop, with the last add and the last exclude."""
    left = bits.newly_lost
    while left:
        column = columns[left.bit_length() - 1]
        left &= ~column.known
        add = (bits.lost & column.known).bit_length() - 2 - column.first
        # The bits of excludes are counted from the end of the column, like the list.
        exclude = (bits.banned & (1 << column.end) - 1).bit_length() - 1 - column.end
        yield Dropped(number, column.feed, column.added[add], column.excluded[exclude])


def _ones(bits: int) -> Iterator[int]:
    """List the set bits of an integer."""
    while bits:
        yield bits.bit_length() - 1
        bits ^= 1 << bits.bit_length() - 1
