"""The store of an online timeline in memory: the names of its events, and arrays for the kernel that orders them."""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.timeline import online
from dbt_tangles.algorithms.timeline.online import Graph, insert, script
from dbt_tangles.algorithms.timeline.replica import Command

#: The number of events, links and bytes for which there is room at first.
_ROOM = 64


class MemoryStore:
    """The events of one timeline; the store of `timeline.Timeline`. An event takes about 150 bytes and its names."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}  # of each event that has arrived or is awaited
        self._names: list[str] = []
        self._causes: dict[int, list[int]] = {}  # of each event that has arrived
        self._links = self._bytes = 0
        self._graph = Graph(
            np.full((online.EVENT_ROWS, _ROOM), -1, np.int32),
            np.zeros((online.ORDER_ROWS, _ROOM), np.int64),
            np.zeros((2, _ROOM), np.int32),
            np.zeros(_ROOM, np.uint8),
        )
        self._text = memoryview(self._graph.text)

    def __len__(self) -> int:
        return len(self._causes)

    def causes(self, name: str) -> set[str] | None:
        """Return the causes of an event that has arrived."""
        found = self._causes.get(self._number.get(name, -1))
        return None if found is None else {self._names[cause] for cause in found}

    def insert(self, name: str, causes: list[str]) -> tuple[str | None, list[Command]]:
        """Insert a new event.

        Returns:
            A cause that follows the event, which is then refused; and the commands.
        """
        heard = [each for each in (name, *causes) if each not in self._number]
        used = self._bytes
        self._write_names(heard, len(causes))
        listed = [self._number[cause] for cause in causes]
        x = self._number[name]
        arrival = x, len(self), self._links
        closer, at, movers, steps = _quick(insert)(*self._graph, np.array(listed, np.int32), arrival)
        if closer >= 0:
            follower = self._names[closer]
            for each in heard:
                del self._number[each]
            del self._names[len(self._number) :]
            self._bytes = used
            return follower, []
        self._causes[x] = listed
        self._links += len(listed)
        if steps == 0:
            return None, [("ins", name, None, at)]
        commands = _quick(script)(self._graph.event, self._graph.order, movers, steps)
        return None, [
            ("ins" if taken < 0 else "mov", self._names[event], None if taken < 0 else taken, put)
            for event, taken, put, _, _ in commands.reshape(-1, 5).tolist()
        ]

    def order(self) -> list[str]:
        """Return the events in order."""
        return [self._names[event] for event in self._graph.order[online.ORDER, : len(self)].tolist()]

    def rank(self, name: str) -> int | None:
        """Return the rank of an event that has arrived."""
        number = self._number.get(name, -1)
        return int(self._graph.event[online.RANK, number]) if number in self._causes else None

    def pending(self) -> dict[str, list[str]]:
        """Return the awaited events, each with the events that list it."""
        event, link = self._graph.event, self._graph.link
        found = {}
        for number in np.flatnonzero(event[online.RANK, : len(self._names)] < 0).tolist():
            at, effects = event[online.LINK, number], []
            while at >= 0:
                effects.append(self._names[link[online.EFFECT, at]])
                at = link[online.NEXT, at]
            found[self._names[number]] = sorted(effects)
        return found

    def close(self) -> None:
        """Keep the timeline: it has no file."""

    def _write_names(self, heard: list[str], links: int) -> None:
        """Number new names, and make room for them and for new links."""
        texts = [each.encode() for each in heard]
        event, order, link, text = self._graph
        count, added = len(self._names), b"".join(texts)
        end = self._bytes + len(added)
        if count + len(heard) >= event.shape[1] or self._links + links > link.shape[1] or end > len(text):
            self._graph = Graph(
                _with_room(event, count + len(heard) + 1, -1),
                _with_room(order, count + len(heard) + 1, 0),
                _with_room(link, self._links + links, 0),
                _with_room(text, end, 0),
            )
            self._text = memoryview(self._graph.text)
        self._text[self._bytes : end] = added
        begin = self._graph.order[online.BEGIN]
        for number, (each, data) in enumerate(zip(heard, texts, strict=True), count):
            self._bytes += len(data)
            begin[number + 1] = self._bytes
            self._number[each] = number
        self._names += heard


def _quick(kernel):
    """Return the machine code of a kernel if it is loaded: the choice of the way takes longer than the kernel."""
    return kernel.dispatcher if kernel.dispatcher.overloads else kernel


def _with_room(array: np.ndarray, wanted: int, value: int) -> np.ndarray:
    """Return an array whose last axis has a length of at least so many, filled with a value behind its old end."""
    length = array.shape[-1]
    if wanted <= length:
        return array
    larger = np.full((*array.shape[:-1], max(2 * length, wanted)), value, array.dtype)
    larger[..., :length] = array
    return larger
