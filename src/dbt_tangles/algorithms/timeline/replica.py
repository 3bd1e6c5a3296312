"""A replica of a timeline, kept up to date by edit commands (ScuttleSort 2022-05-09, section 1.2).

Commands drive any object with the two callbacks of `Listener`: the list behind a user interface, or a table of a
database. `Replica` is a listener that keeps the order in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol

#: A command as a row of the tables: op, event_id, from_position (None for an `ins`), to_position.
Command = tuple[str, Any, "int | None", int]


class EditError(ValueError):
    """A command that cannot be applied.

    Attributes:
        place: Its number among the commands given, from 0.
        problem: The reason.
    """

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(f"command {place}: {problem}")
        self.place = place
        self.problem = problem


class Listener(Protocol):
    """The callbacks of an object that applies commands.

    Source: ScuttleSort 2022-05-09, section 1.2, where the callbacks are named.
    """

    def on_insert(self, position: int, event: Any) -> Any:
        """Insert an event at a position; the events from there on move up by one."""

    def on_move(self, from_position: int, to_position: int) -> Any:
        """Remove the event at a position, then insert it at another position, counted without the event."""


class Replica:
    """An order of events that applies commands: a list of short lists.

    Source: ScuttleSort 2022-05-09, section 1.2 (there a plain list: a command costs the length of the timeline).
    """

    def __init__(self, events: Iterable[Any] = (), block: int = 2048) -> None:
        """Begin with a given order.

        Args:
            events: The events in order, objects of any type.
            block: The most events of one short list, at least 2.

        Raises:
            ValueError: A block is too short.
        """
        if block < 2:
            raise ValueError(f"block is {block}; a block of a replica needs room for at least two events")
        self._block = block
        self._fill(list(events))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._blocks)

    def __getitem__(self, position: int) -> Any:
        """Return the event at a position.

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
        """Insert an event at a position, from 0 to the number of events.

        Raises:
            IndexError: There is no such position.
        """
        self._check(position, self._length + 1)
        # At the edge of two blocks the event goes to the end of the first; so the last block takes appended events.
        block, offset = self._find(position - 1) if position else (0, -1)
        events = self._blocks[block]
        events.insert(offset + 1, event)
        self._length += 1
        if len(events) > self._block:
            middle = len(events) // 2
            self._blocks[block : block + 1] = [events[:middle], events[middle:]]
            # Moves leave nearly empty blocks behind.
            if len(self._blocks) > 16 + 8 * (self._length // self._block):
                self._fill(self.order())

    def on_move(self, from_position: int, to_position: int) -> Any:
        """Move the event at a position to another position, counted without the event; return the event.

        Raises:
            IndexError: There is no such position; the order stays as it was.
        """
        self._check(from_position, self._length)
        self._check(to_position, self._length)
        event = self.take(from_position)
        self.on_insert(to_position, event)
        return event

    def take(self, position: int) -> Any:
        """Remove an event and return it. Commands never remove events; undoing an insertion does.

        Raises:
            IndexError: There is no such position.
        """
        self._check(position, self._length)
        block, offset = self._find(position)
        self._length -= 1
        return self._blocks[block].pop(offset)

    @staticmethod
    def _check(position: int, end: int) -> None:
        if not 0 <= position < end:
            raise IndexError(f"position {position} is not one of the {end}")

    def _find(self, position: int) -> tuple[int, int]:
        """Return the block that holds a position, and the index within the block, searching from the nearer end."""
        if position < self._length // 2:
            block = 0
            while position >= len(self._blocks[block]):
                position -= len(self._blocks[block])
                block += 1
            return block, position
        block = len(self._blocks)
        position -= self._length
        while position < 0:
            block -= 1
            position += len(self._blocks[block])
        return block, position

    def _fill(self, events: list[Any]) -> None:
        half = self._block // 2
        self._blocks = [events[begin : begin + half] for begin in range(0, len(events), half)] or [[]]
        self._length = len(events)


def follow(commands: Iterable[Command], listener: Listener, content: Callable[[Any], Any] | None = None) -> int:
    """Apply commands to a listener.

    Source: ScuttleSort 2022-05-09, section 1.2, where `on_insert` gets the content of an event in place of its name.

    Args:
        commands: In order: op (`ins` or `mov`), event, from_position (None for an `ins`), to_position.
        listener: The object that applies them. A value that its `on_move` returns is compared with the event that the
            command names (`Replica` returns the moved event).
        content: Returns the content that the listener gets for an event; by default the event itself.

    Returns:
        The number of commands.

    Raises:
        EditError: A command is malformed, its position does not exist (the listener raised an IndexError), or another
            event is at its position. Earlier commands stay applied.
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
                raise EditError(place, f"it is neither an ins nor a mov: {op!r}, from {taken}, to {put}")
        except IndexError as error:
            raise EditError(place, f"{op} {event!r}: {error}") from error
    return place + 1
