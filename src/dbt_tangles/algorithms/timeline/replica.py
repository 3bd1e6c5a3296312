"""A replica of a timeline: what follows its edit commands.

Whatever has the two callbacks of `Listener` can be driven, the list behind a GUI or a table of a database alike;
`Replica` is such a listener that keeps the order in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol

#: A command as a row of the tables: op, event_id, from_position (None for an `ins`), to_position.
Command = tuple[str, Any, "int | None", int]


class EditError(ValueError):
    """A command that cannot be followed.

    Attributes:
        place: Its number among the commands given, from 0.
        problem: Why not.
    """

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(f"command {place}: {problem}")
        self.place = place
        self.problem = problem


class Listener(Protocol):
    """What takes commands.

    Source: ScuttleSort 2022-05-09, section 1.2, which names the callbacks.
    """

    def on_insert(self, position: int, event: Any) -> Any:
        """Put an event in before what is at a position; all from there on are one further."""

    def on_move(self, from_position: int, to_position: int) -> Any:
        """Take out what is at a position, then put it in at another, counted without it."""


class Replica:
    """An order of events that takes commands.

    It is a list of short lists and Fenwick's sums of their lengths, so that a command costs the moving of a few
    thousand references at most, and a logarithm.

    Source: ScuttleSort 2022-05-09, section 1.2; there a plain list, where a command costs the length of the timeline.
    """

    def __init__(self, events: Iterable[Any] = (), block: int = 2048) -> None:
        """Begin with an order that is known already.

        Args:
            events: The events, in order; of any kind, and never looked into.
            block: The most events of one short list, at least 2.

        Raises:
            ValueError: A block is too short.
        """
        if block < 2:
            raise ValueError("a block must have room for two events")
        self._block = block
        self._length = 0
        self._fill(list(events))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._blocks)

    def __getitem__(self, position: int) -> Any:
        """Look at the event at a position.

        Raises:
            IndexError: There is no such position; negative ones do not count from the end.
        """
        self._check(position, self._length)
        block, offset = self._find(position)
        return self._blocks[block][offset]

    def order(self) -> list[Any]:
        """Return all events, in order."""
        return list(self)

    def on_insert(self, position: int, event: Any) -> None:
        """Put an event in before what is at a position.

        Args:
            position: From 0 to the number of events.
            event: The event.

        Raises:
            IndexError: There is no such position.
        """
        self._check(position, self._length + 1)
        # An event at the edge of two blocks goes to the end of the first; so the last block takes what is appended.
        block, offset = self._find(position - 1) if position else (0, -1)
        events = self._blocks[block]
        events.insert(offset + 1, event)
        self._length += 1
        if len(events) > self._block:
            self._split(block)
        else:
            self._add(block, 1)

    def on_move(self, from_position: int, to_position: int) -> Any:
        """Take out the event at a position, then put it in at another.

        Args:
            from_position: From 0, below the number of events.
            to_position: Where it is afterwards; from 0, below the number of events.

        Returns:
            The event.

        Raises:
            IndexError: There is no such position; nothing is changed then.
        """
        self._check(from_position, self._length)
        self._check(to_position, self._length)
        block, offset = self._find(from_position)
        events, to_offset = self._blocks[block], to_position - from_position + offset
        if 0 <= to_offset < len(events):  # Most moves are short, and change no block's length.
            event = events.pop(offset)
            events.insert(to_offset, event)
        else:
            event = self.take(from_position)
            self.on_insert(to_position, event)
        return event

    def take(self, position: int) -> Any:
        """Take an event out for good, which no command does: for following commands backwards.

        Args:
            position: From 0, below the number of events.

        Returns:
            The event.

        Raises:
            IndexError: There is no such position.
        """
        self._check(position, self._length)
        block, offset = self._find(position)
        event = self._blocks[block].pop(offset)
        self._length -= 1
        self._add(block, -1)
        return event

    @staticmethod
    def _check(position: int, end: int) -> None:
        if not 0 <= position < end:
            raise IndexError(f"position {position} is none of the {end}")

    def _find(self, position: int) -> tuple[int, int]:
        """Return the block that a position is in, and where in it."""
        sums, block, step = self._sums, 0, self._half
        while step:
            here = sums[block + step]
            if here <= position:
                block += step
                position -= here
            step >>= 1
        return block, position

    def _add(self, block: int, events: int) -> None:
        sums, place, size = self._sums, block + 1, len(self._sums)
        while place < size:
            sums[place] += events
            place += place & -place

    def _split(self, block: int) -> None:
        events = self._blocks[block]
        middle = len(events) // 2
        self._blocks[block : block + 1] = [events[:middle], events[middle:]]
        # Moves leave blocks behind that hold little; too many of them would make splits expensive.
        if len(self._blocks) > 16 + 8 * (self._length // self._block):
            self._fill(self.order())
        else:
            self._count()

    def _fill(self, events: list[Any]) -> None:
        width = max(1, self._block // 2)
        self._blocks = [events[begin : begin + width] for begin in range(0, len(events), width)] or [[]]
        self._length = len(events)
        self._count()

    def _count(self) -> None:
        """Sum the blocks' lengths up, as if their number was a power of two."""
        size = 1 << max(0, len(self._blocks) - 1).bit_length()
        sums = [0, *map(len, self._blocks), *[0] * (size - len(self._blocks))]
        for place in range(1, size):
            above = place + (place & -place)
            if above <= size:
                sums[above] += sums[place]
        self._sums = sums
        self._half = size // 2


def follow(commands: Iterable[Command], listener: Listener, content: Callable[[Any], Any] | None = None) -> int:
    """Feed commands to whatever takes them.

    Source: ScuttleSort 2022-05-09, section 1.2, where `on_insert` gets what the event holds and not its name.

    Args:
        commands: In order: op (`ins` or `mov`), event, from_position (None for an `ins`), to_position.
        listener: What takes them. If its `on_move` returns something, that is taken for the event it moved, as
            `Replica` does, and must be the one that the command names.
        content: Looks up what the listener is to get for an event; the event itself if it is not given.

    Returns:
        How many commands there were.

    Raises:
        EditError: A command is none, or the listener has no such position (it raised an IndexError), or another event
            is there. Earlier commands are done.
    """
    insert, move, place = listener.on_insert, listener.on_move, -1
    for place, (op, event, taken, put) in enumerate(commands):
        try:
            if op == "mov" and taken is not None and put is not None:
                moved = move(taken, put)
                shown = event if moved is None or content is None else content(event)
                if moved is not None and moved != shown:
                    raise EditError(place, f"it moves {shown!r}, but {moved!r} is at {taken}")
            elif op == "ins" and taken is None and put is not None:
                insert(put, event if content is None else content(event))
            else:
                raise EditError(place, f"it is none: {op!r}, from {taken}, to {put}")
        except IndexError as error:
            raise EditError(place, f"{op} {event!r}: {error}") from error
    return place + 1
