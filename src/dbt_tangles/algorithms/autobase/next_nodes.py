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

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

#: The most sides of a window that are tried, besides the one of everything.
SIDES = 10
MAX_INT32 = 2**31 - 1


class Writer(NamedTuple):
    """A writer that may publish next."""

    place: int  # The rank of its key in the window's view
    indexer: int  # Its number among the indexers, or -1
    length: int  # The length of its log with its next node
    left: int  # The number of nodes left in its unfinished batch, or 0
    last: int  # The local number of its last node in the window, or -1


class Draft(NamedTuple):
    """A node that may be published.

    Attributes:
        writer: The number of its writer among the writers of the window.
        side: The number of its side, or -1.
        length: The length of the writer's log with it.
        batch: The number of nodes left in its batch, itself included.
        heads: The local numbers of the nodes that it follows; drafts are numbered behind the nodes of the window.
        own: The local number of the writer's node before it, or -1.
        past: A bit mask of its ancestors, itself included.
    """

    writer: int
    side: int
    length: int
    batch: int
    heads: tuple[int, ...]
    own: int
    past: int


Sequence = tuple[Draft, ...]


class WindowNodes(NamedTuple):
    """The nodes of a window by local number."""

    previous: list[list[int]]  # The previous nodes of each node
    is_followable: list[bool]  # Whether a next node may follow each node
    indexer: list[int]  # The number of each node's indexer, or -1


class Window:
    """The nodes of a window with bit masks of their ancestors.

    The nodes have local numbers from 0, in their order in the view; then come the heads of the view outside of the
    window, which have been settled.
    """

    def __init__(
        self,
        nodes: WindowNodes,
        unsettled: list[int],
        outer: int,
        writers: list[Writer],
        indexers: int,
    ):
        """Compute the ancestors.

        Args:
            nodes: The nodes.
            unsettled: The nodes that are not settled, ascending.
            outer: The number of heads outside of the window.
            writers: The writers that may publish.
            indexers: The number of indexers.
        """
        self.size, self.outer, self.writers, self.majority = len(nodes.previous), outer, writers, indexers // 2 + 1
        self.previous, self.unsettled, self.indexer = nodes.previous, unsettled, nodes.indexer
        self.past = _pasts(nodes.previous) + [1 << at for at in range(self.size, self.size + outer)]
        self.followable = [at for at in range(self.size) if nodes.is_followable[at]] + list(
            range(self.size, self.size + outer)
        )

    @cached_property
    def _contenders(self) -> list[int]:
        """The distinct masks of contenders of unsettled indexer nodes, one more than `SIDES` at most; 0 first."""
        voting = [x for x in self.unsettled if self.indexer[x] >= 0]
        every = sum(1 << x for x in voting)
        descendants = [1 << x for x in range(self.size)]
        for x in sorted(range(self.size), key=lambda x: -self.past[x].bit_count()):
            for p in self.previous[x]:
                descendants[p] |= descendants[x]
        masks = [0]
        for x in sorted(voting, key=lambda x: (self.past[x].bit_count(), x)):
            beside = every & ~(self.past[x] | descendants[x])
            if beside not in masks:
                masks.append(beside)
            if len(masks) > SIDES + 1:
                break
        return masks

    @property
    def has_all_sides(self) -> bool:
        """Whether the sides include one of each indexer node with contenders."""
        return len(self._contenders) <= SIDES + 1

    @cached_property
    def sides(self) -> list[tuple[int, list[int]]]:
        """The mask of contenders of each side, and the heads of the side; the side of everything first."""
        masks = self._contenders[: SIDES + 1]
        return [(mask, self._maximal([x for x in self.followable if not self.past[x] & mask])) for mask in masks]

    def _maximal(self, nodes: list[int]) -> list[int]:
        below = 0
        for x in nodes:
            below |= self.past[x] ^ (1 << x)
        return [x for x in nodes if not below >> x & 1]

    def append(self, drafts: Sequence, writer: int, side: int) -> Sequence | None:
        """Append the writer's draft on a side to a sequence; None if the writer cannot write it.

        It cannot if it has seen a contender of the side, or if its log has the greatest length.
        """
        beside, heads = self.sides[side]
        own, count = self._own(drafts, writer)
        if self.writers[writer].length + count > MAX_INT32 or (own >= 0 and self._past_of(drafts, own) & beside):
            return None
        chosen = list(heads)
        for at, draft in enumerate(drafts, start=self.size + self.outer):
            if draft.batch == 1 and not draft.past & beside:
                chosen = [x for x in chosen if not draft.past >> x & 1]
                chosen.append(at)
        return self._publish(drafts, writer, side, tuple(chosen))

    def _own(self, drafts: Sequence, writer: int) -> tuple[int, int]:
        """Return the writer's last node, or -1, and the number of its drafts."""
        own, count = self.writers[writer].last, 0
        for at, draft in enumerate(drafts, start=self.size + self.outer):
            if draft.writer == writer:
                own, count = at, count + 1
        return own, count

    def _past_of(self, drafts: Sequence, x: int) -> int:
        first = self.size + self.outer
        return drafts[x - first].past if x >= first else self.past[x]

    def _publish(self, drafts: Sequence, writer: int, side: int, heads: tuple[int, ...]) -> Sequence:
        own, count = self._own(drafts, writer)
        past = 1 << self.size + self.outer + len(drafts)
        for x in heads if own < 0 else (*heads, own):
            past |= self._past_of(drafts, x)
        who = self.writers[writer]
        return (*drafts, Draft(writer, side, who.length + count, max(who.left - count, 1), heads, own, past))

    def draft_chains(self) -> Iterator[Sequence]:
        """Yield the prefixes of one chain for each side, and of one that first finishes all batches.

        Writers take turns; those whose last nodes are the oldest begin, those within a batch end.
        """
        turns = sorted(
            (at for at, who in enumerate(self.writers) if who.indexer >= 0),
            key=lambda at: (self.writers[at].left, self._age(at), at),
        )
        for side in range(len(self.sides)):
            yield from self._chain((), turns, side)
        if 0 < sum(who.left for who in self.writers) <= 2 * self.majority:
            finished: Sequence = ()
            for at in (at for at, who in enumerate(self.writers) for _ in range(who.left)):
                finished = self.append(finished, at, 0) or finished
                yield finished
            yield from self._chain(finished, turns, 0)

    def _age(self, writer: int) -> int:
        last = self.writers[writer].last
        return 0 if last < 0 else self.past[last].bit_count()

    def _chain(self, drafts: Sequence, turns: list[int], side: int) -> Iterator[Sequence]:
        able = [at for at in turns if self.append(drafts, at, side)]
        longest = 2 * self.majority - 1 if len(able) > 1 else len(able)
        for turn in range(longest):
            drafts = self.append(drafts, able[turn % len(able)], side) or drafts
            yield drafts

    def extend(self, drafts: Sequence) -> Iterator[Sequence]:
        """Yield all sequences with one more draft on a side.

        A writer's second node directly after its first one, on the same side, adds neither a vote nor knowledge.
        """
        for writer, who in enumerate(self.writers):
            for side in range(len(self.sides)):
                last = drafts[-1] if drafts else None
                if last and (last.writer, last.side, last.batch) == (writer, side, 1) and not who.left:
                    continue
                longer = self.append(drafts, writer, side)
                if longer:
                    yield longer

    def extend_freely(self, drafts: Sequence) -> Iterator[Sequence]:
        """Yield all sequences with one more draft, with every choice of heads."""
        first = self.size + self.outer
        nodes = self.followable + [at for at, draft in enumerate(drafts, start=first) if draft.batch == 1]
        for writer in range(len(self.writers)):
            own, count = self._own(drafts, writer)
            if self.writers[writer].length + count > MAX_INT32:
                continue
            known = self._past_of(drafts, own) if own >= 0 else 0
            unknown = [x for x in nodes if not known >> x & 1]
            for heads in self._antichains(drafts, unknown):
                yield self._publish(drafts, writer, -1, heads)

    def _antichains(self, drafts: Sequence, nodes: list[int]) -> Iterator[tuple[int, ...]]:
        """Yield the sets of nodes of which none sees another one, small sets first."""
        found: list[tuple[int, ...]] = [()]
        while found:
            yield from found
            found = [
                (*chosen, x)
                for chosen in found
                for x in nodes
                if (not chosen or x > chosen[-1])
                and not any(self._past_of(drafts, x) >> y & 1 or self._past_of(drafts, y) >> x & 1 for y in chosen)
            ]


def _pasts(previous: list[list[int]]) -> list[int]:
    """Return a bit mask of the ancestors of each node, itself included."""
    found = [0] * len(previous)
    stack = list(range(len(previous)))
    while stack:
        x = stack[-1]
        waiting = [p for p in previous[x] if not found[p]]
        if found[x] or not waiting:
            stack.pop()
            if not found[x]:
                found[x] = 1 << x
                for p in previous[x]:
                    found[x] |= found[p]
            continue
        stack += waiting
    return found
