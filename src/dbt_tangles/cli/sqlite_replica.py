"""A replica of timelines in an SQLite file, kept up to date by edit commands (ScuttleSort 2022-05-09, section 1.2).

Each event has a `place`, a number with gaps before and behind it, and the view `positions` numbers the events from 0 in
the order of their places. An insertion or a move therefore writes the row of its event alone, until a gap is full.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from dbt_tangles.algorithms.timeline.replica import Command, Replica, follow
from dbt_tangles.cli.tables import CommandError
from dbt_tangles.queries import sections

#: The distance of two places when a timeline is loaded.
_GAP = 1 << 32
_SQL = sections(__file__)

#: A part of SQLite's message: the cause with its remedy.
_CAUSES = {
    "unable to open": "the file cannot be opened; its folder must exist, and both must permit reading and writing",
    "readonly": "the file, or its folder, permits no writing; permit it, or name another file",
    "full": "the disk is full; free some space, and run the command again",
    "I/O": "the disk cannot be read or written; look at its messages, or name a file on another disk",
    "malformed": "the file is damaged; delete it, and the command loads the timeline into a new one",
}
_FOREIGN = "it is no replica; --into names a file that `tangles follow` has made, or a new one"
#: The longest time in seconds for which SQLite waits for the lock of another program.
MOST_SECONDS = 30.0


class LockedError(CommandError):
    """Another program has locked the file."""


class SqliteReplica:
    """The timelines in one SQLite file, which is made if it does not exist.

    The methods raise CommandError if the file is not one of a replica or cannot be used, and LockedError if another
    program has locked it.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        if os.path.exists(path) and not os.path.isfile(path):
            raise CommandError(f"{path}: no regular file; {_FOREIGN}")
        with self._explain():
            self._connection = sqlite3.connect(path, MOST_SECONDS, isolation_level=None)
            held = {name for (name,) in self._connection.execute("select name from sqlite_master where type = 'table'")}
            if held and "timelines" not in held:  # The file of another program stays as it is.
                raise CommandError(f"{path}: {_FOREIGN}")
            self._connection.execute("pragma journal_mode = wal")  # Clients read while a transaction writes.
            self._connection.executescript(_SQL["schema"])

    def publication(self, timeline_id: str) -> str | None:
        """Return the name of the order that the file holds; None for a timeline that it does not have."""
        found = self._select("select publication from timelines where timeline_id = ?", timeline_id)
        return found[0][0] if found else None

    def count_events(self, timeline_id: str) -> int:
        """Return the number of events of a timeline."""
        return self._select("select count(*) from events where timeline_id = ?", timeline_id)[0][0]

    def order(self, timeline_id: str) -> list[str]:
        """Return the events of a timeline in order."""
        return [*self._places(timeline_id)]

    def _places(self, timeline_id: str) -> dict[str, int]:
        return dict(
            self._select("select event_id, place from events where timeline_id = ? order by place", timeline_id)
        )

    def _select(self, sql: str, timeline_id: str) -> list[tuple]:
        with self._explain():
            return self._connection.execute(sql, (timeline_id,)).fetchall()

    def load(self, timeline_id: str, events: list[dict], publication: str) -> int:
        """Replace a timeline by events in order, in one transaction; return the number of written rows."""
        with self._transaction(timeline_id, publication) as begun:
            self._connection.execute("delete from events where timeline_id = ?", (timeline_id,))
            self._write(timeline_id, ({"place": n * _GAP, **event} for n, event in enumerate(events)))
        return self._connection.total_changes - begun

    def apply(self, timeline_id: str, commands: Iterable[Command], events: Iterable[dict], publication: str) -> int:
        """Apply the commands of an update with the events that they insert; return the number of written rows.

        Raises:
            EditError: A command does not fit the order; the file stays as it was.
        """
        with self._transaction(timeline_id, publication) as begun:
            places, commands = self._places(timeline_id), list(commands)
            order = Replica(places)
            follow(commands, order)
            edited = {event for _, event, _, _ in commands}
            moved = _new_places(order.order(), {event: places[event] for event in places.keys() - edited})
            self._write(timeline_id, [{"place": moved.pop(event["event_id"]), **event} for event in events])
            sql = "update events set place = ? where timeline_id = ? and event_id = ?"
            self._connection.executemany(sql, ((place, timeline_id, event) for event, place in moved.items()))
        return self._connection.total_changes - begun

    @contextmanager
    def _transaction(self, timeline_id: str, publication: str) -> Iterator[int]:
        begun = self._connection.total_changes
        with self._explain():
            self._connection.execute("begin immediate")
            try:
                yield begun
                self._connection.execute("insert or replace into timelines values (?, ?)", (timeline_id, publication))
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    def _write(self, timeline_id: str, events: Iterable[dict]) -> None:
        self._connection.executemany(_SQL["write_event"], ({"timeline_id": timeline_id, **event} for event in events))

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "locked" in said:
                raise LockedError(f"{self._path}: another program has locked the file; end its transaction") from error
            cause = next((cause for part, cause in _CAUSES.items() if part in said), _FOREIGN)
            raise CommandError(f"{self._path}: {said}: {cause}") from error


def _new_places(order: list[str], kept: dict[str, int]) -> dict[str, int]:
    """Give the events without a place one between their neighbours; if a gap is full, give all events new places."""
    places: dict[str, int] = {}
    runs = [(is_kept, [*run]) for is_kept, run in groupby(order, kept.__contains__)]
    for n, (is_kept, run) in enumerate(runs):
        if is_kept:
            continue
        parts = len(run) + 1
        before = kept[runs[n - 1][1][-1]] if n else None
        behind = kept[runs[n + 1][1][0]] if n + 1 < len(runs) else None
        if before is None:
            before = 0 if behind is None else behind - parts * _GAP
        if behind is None:
            behind = before + parts * _GAP
        if behind - before < parts:
            return {event: place * _GAP for place, event in enumerate(order)}
        places |= {event: before + (behind - before) * part // parts for part, event in enumerate(run, 1)}
    return places
