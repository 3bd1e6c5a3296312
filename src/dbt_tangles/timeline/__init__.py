"""A timeline to which events are added one by one, each answered by the shortest script for replicas of the order.

Source: ScuttleSort 2022-05-09, sections 1.2, 2.2 and 6. docs/how-to/online-timeline.md shows the use.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from dbt_tangles.algorithms.timeline.replica import Command


class CycleError(ValueError):
    """An event, `name`, is refused, because its cause `cause` already follows it."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"{name!r} would close a cycle: its cause {cause!r} follows it; leave that cause out")
        self.name, self.cause = name, cause


class ConflictError(ValueError):
    """An event, `name`, has arrived with other causes, and stays as it is."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} has already arrived with other causes; give an event with other causes its own name"
        )
        self.name = name


class Timeline:
    """Events in their converged order, by rank and then by name; the rank is the longest path over known causes.

    The order depends on the events alone, not on the sequence of their arrivals.
    """

    def __init__(self) -> None:
        """Begin an empty timeline in memory."""
        from dbt_tangles.timeline.memory_store import MemoryStore

        self._store = MemoryStore()

    @classmethod
    def open(cls, path: str | PathLike, cache_bytes: int = 8 << 20) -> Timeline:
        """Open a timeline in an SQLite file, or make it; each event is in the file before `add` returns.

        Args:
            path: The file.
            cache_bytes: The most memory for pages of the file. An arrival also takes memory for the events that it
                raises.

        Raises:
            sqlite3.Error: The file cannot be opened, or is not a database.
        """
        from dbt_tangles.timeline.sqlite_store import SqliteStore

        timeline = cls.__new__(cls)
        timeline._store = SqliteStore(path, cache_bytes)
        return timeline

    def add(self, name: str, after: Iterable[str] = ()) -> list[Command]:
        """Add an event.

        Args:
            name: The event.
            after: Its causes. Those that have not arrived are awaited; the event itself is left out.

        Returns:
            The shortest script from the order before to the order now, as rows op, event, from_position, to_position
            (`replica.follow` applies them). It is empty if the event has arrived before.

        Raises:
            ConflictError: The event has arrived with other causes.
            CycleError: A cause follows the event. The timeline stays as it was.
            TypeError: A name is not a string.
            ValueError: A name has half of a surrogate pair.
        """
        if isinstance(after, str):
            raise TypeError(f"after is the string {after!r}; give a list of names")
        causes = list(dict.fromkeys(after))
        for each in (name, *causes):
            if not isinstance(each, str):
                raise TypeError(f"{each!r} is no name of an event; names are strings")
        causes = [cause for cause in causes if cause != name]
        earlier = self._store.causes(name)
        if earlier is not None:
            if earlier != set(causes):
                raise ConflictError(name)
            return []
        follower, commands = self._store.insert(name, causes)
        if follower is not None:
            raise CycleError(name, follower)
        return commands

    def order(self) -> list[str]:
        """Return all events, in order."""
        return self._store.order()

    def rank(self, name: str) -> int:
        """Return the rank of an event: the links on the longest path over known causes.

        Raises:
            KeyError: The event has not arrived.
        """
        rank = self._store.rank(name)
        if rank is None:
            raise KeyError(name)
        return rank

    def pending(self) -> dict[str, list[str]]:
        """Return the awaited events, each with the events that list it, by name."""
        return self._store.pending()

    def close(self) -> None:
        """Close the file; a timeline in memory stays as it is."""
        self._store.close()

    def __len__(self) -> int:
        return len(self._store)

    def __enter__(self) -> Timeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
