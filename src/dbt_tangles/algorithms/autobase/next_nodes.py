"""The next nodes that may be published on top of a window, in sequences: chains, and all sequences of a length.

A *draft* is a node that a writer could publish next. Under the rule of `consensus`, a draft follows everything that one
*side* allows. There is the side of everything; and for each indexer node with contenders the side that leaves out all
nodes that see one of these. A vote counts for a target unless it has seen a contender of the target, and a draft that
follows more sees more votes; so a draft that follows less than a side settles no more. Under the rule of `design`, a
vote may have seen contenders of lower degrees, so a draft may follow any heads.

On the side of everything, the first draft of a chain has no contender. With twice the majority of drafts less one, by
at least a majority of the indexers, it has a double quorum, and settles everything that can be followed.

Source: autobase 7.28.1; the design document of Autobase, Quorums and Caveat.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

#: The most sides of a window that are tried, besides the one of everything.
SIDES = 10
MAX_INT32 = 2**31 - 1


class Writer(NamedTuple):
    """A writer that may publish next."""

    place: int  # The rank of its key
    indexer: int  # Its number among the indexers, or -1
    length: int  # The length of its log with its next node
    left: int  # The number of nodes left in its unfinished batch, or 0
    last: int  # The local number of its last node in the window, or -1


class Draft(NamedTuple):
    """A node that may be published."""

    writer: int  # The number of its writer among the writers of the window
    side: int  # The number of its side, or -1
    length: int  # The length of the writer's log with it
    batch: int  # The number of nodes left in its batch, itself included
    heads: tuple[int, ...]  # The local numbers of the nodes that it follows; drafts come behind the nodes of the window
    own: int  # The local number of the writer's node before it, or -1
    past: int  # A bit mask of its ancestors, itself included


Sequence = tuple[Draft, ...]


class Window(NamedTuple):
    """The nodes of a window by local number, and the heads of the base outside of it, which come behind them."""

    number: int  # Its number among the windows
    previous: list[list[int]]  # The previous nodes of each node
    followable: list[int]  # The nodes and heads that a next node may follow
    indexer: list[int]  # The number of each node's indexer, or -1
    unsettled: list[int]  # The nodes that are not settled, ascending
    outer: int  # The number of heads outside of the window
    writers: list[Writer]  # The writers that may publish
    majority: int  # The majority of the indexers

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.previous)


class Drafting:
    """Makes sequences of drafts on top of a window."""

    def __init__(self, window: Window) -> None:
        """Compute a bit mask of the ancestors of each node, itself included."""
        self.window, self.first = window, window.size + window.outer
        self.past = _pasts(window.previous) + [1 << at for at in range(window.size, self.first)]

    @cached_property
    def contenders(self) -> list[int]:
        """The distinct masks of contenders of unsettled indexer nodes, one more than `SIDES` at most; 0 first."""
        voting = [x for x in self.window.unsettled if self.window.indexer[x] >= 0]
        masks = [0]
        for x in sorted(voting, key=lambda x: (self.past[x].bit_count(), x)):
            beside = sum(1 << y for y in voting if not (self.past[x] >> y | self.past[y] >> x) & 1)
            if beside not in masks:
                masks.append(beside)
            if len(masks) > SIDES + 1:
                break
        return masks

    @cached_property
    def sides(self) -> list[tuple[int, list[int]]]:
        """The mask of contenders of each side, and the heads of the side; the side of everything first."""
        found = []
        for mask in self.contenders[: SIDES + 1]:
            nodes = [x for x in self.window.followable if not self.past[x] & mask]
            below = 0
            for x in nodes:
                below |= self.past[x] ^ (1 << x)
            found.append((mask, [x for x in nodes if not below >> x & 1]))
        return found

    def past_of(self, drafts: Sequence, x: int) -> int:
        """Return the mask of the ancestors of a node or draft; 0 for -1."""
        if x < 0:
            return 0
        return drafts[x - self.first].past if x >= self.first else self.past[x]

    def publish(self, drafts: Sequence, writer: int, side: int, heads: Iterable[int] | None = None) -> Sequence | None:
        """Append a draft with some heads, or with all that a side allows.

        Returns:
            The longer sequence; None if the writer saw a contender of the side, or its log has the greatest length.
        """
        who = self.window.writers[writer]
        mine = [at for at, draft in enumerate(drafts, start=self.first) if draft.writer == writer]
        own, length = mine[-1] if mine else who.last, who.length + len(mine)
        beside, chosen = self.sides[side] if heads is None else (0, list(heads))
        if length > MAX_INT32 or self.past_of(drafts, own) & beside:
            return None
        for at, draft in enumerate(drafts if heads is None else (), start=self.first):
            if draft.batch == 1 and not draft.past & beside:
                chosen = [*(x for x in chosen if not draft.past >> x & 1), at]
        past = 1 << self.first + len(drafts) | self.past_of(drafts, own)
        for x in chosen:
            past |= self.past_of(drafts, x)
        return (*drafts, Draft(writer, side, length, max(who.left - len(mine), 1), tuple(chosen), own, past))

    def chains(self) -> Iterator[Sequence]:
        """Yield the prefixes of one chain for each side, and of one that first finishes all batches.

        Writers take turns; those whose last nodes are the oldest begin, those within a batch end.
        """
        writers = self.window.writers
        age = [self.past_of((), who.last).bit_count() for who in writers]
        turns = [at for at, who in enumerate(writers) if who.indexer >= 0]
        turns.sort(key=lambda at: (writers[at].left, age[at], at))
        for side in range(len(self.sides)):
            yield from self._chain((), turns, side)
        if 0 < sum(who.left for who in writers) <= 2 * self.window.majority:
            finished: Sequence = ()
            for at in (at for at, who in enumerate(writers) for _ in range(who.left)):
                finished = self.publish(finished, at, 0) or finished
                yield finished
            yield from self._chain(finished, turns, 0)

    def _chain(self, drafts: Sequence, turns: list[int], side: int) -> Iterator[Sequence]:
        able = [at for at in turns if self.publish(drafts, at, side)]
        for turn in range(2 * self.window.majority - 1 if len(able) > 1 else len(able)):
            drafts = self.publish(drafts, able[turn % len(able)], side) or drafts
            yield drafts

    def extend(self, drafts: Sequence) -> Iterator[Sequence]:
        """Yield all sequences with one more draft on a side.

        A writer's second node directly after its first one, on the same side, adds neither a vote nor knowledge.
        """
        last = drafts[-1] if drafts else None
        for writer, who in enumerate(self.window.writers):
            for side in range(len(self.sides)):
                is_idle = last and (last.writer, last.side, last.batch) == (writer, side, 1) and not who.left
                longer = None if is_idle else self.publish(drafts, writer, side)
                if longer:
                    yield longer

    def extend_freely(self, drafts: Sequence) -> Iterator[Sequence]:
        """Yield all sequences with one more draft, with every choice of heads."""
        nodes = self.window.followable + [at for at, draft in enumerate(drafts, self.first) if draft.batch == 1]
        for writer in range(len(self.window.writers)):
            alone = self.publish(drafts, writer, -1, ())
            if alone:
                unknown = [x for x in nodes if not alone[-1].past >> x & 1]
                for heads in self._antichains(drafts, unknown):
                    yield self.publish(drafts, writer, -1, heads)

    def _antichains(self, drafts: Sequence, nodes: list[int]) -> Iterator[tuple[int, ...]]:
        """Yield the sets of nodes of which none sees another one, small sets first."""
        past = {x: self.past_of(drafts, x) for x in nodes}
        found: list[tuple[int, ...]] = [()]
        while found:
            yield from found
            found = [
                (*chosen, x)
                for chosen in found
                for x in nodes
                if (not chosen or x > chosen[-1]) and not any((past[x] >> y | past[y] >> x) & 1 for y in chosen)
            ]


def _pasts(previous: list[list[int]]) -> list[int]:
    """Return a bit mask of the ancestors of each node, itself included."""
    found = [0] * len(previous)
    stack = list(range(len(previous)))
    while stack:
        x = stack[-1]
        waiting = [p for p in previous[x] if not found[p]]
        stack += waiting
        if not waiting:
            stack.pop()
            found[x] = 1 << x
            for p in previous[x]:
                found[x] |= found[p]
    return found
