"""A replica of timelines in an SQLite file, kept up to date by edit commands (ScuttleSort 2022-05-09, section 1.2).

The order of a timeline is a sequence of blocks, each with the numbers of some hundred events in one row. The view
`positions` numbers the events from 0 without gaps: a window function adds up the sizes of earlier blocks. An insertion
therefore writes one or two rows of blocks, and a move two or three, wherever they are.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbt_tangles.algorithms.timeline.replica import Command, follow
from dbt_tangles.cli.tables import CommandError
from dbt_tangles.queries import sections

#: A block with more events is split in two.
BLOCK = 256
#: The distance of the `place` of two blocks when they are written first. A split halves it.
_GAP = 1 << 32
_SQL = sections(Path(__file__).with_name("sqlite_replica.sql"))

#: A part of SQLite's message: the cause with its remedy.
_CAUSES = {
    "unable to open": "the file cannot be opened; its folder must exist, and both must permit reading and writing",
    "readonly": "the file, or its folder, permits no writing; permit it, or name another file",
    "full": "the disk is full; free some space, and run the command again",
    "I/O": "the disk cannot be read or written; look at its messages, or name a file on another disk",
    "malformed": "the file is damaged; delete it, and the command loads the timeline into a new one",
}
_FOREIGN = "it is no replica; --into names a file that `tangles follow` has made, or a new one"
#: The longest time in seconds for which SQLite itself waits for a lock.
_BUSY = 1.0


class LockedError(CommandError):
    """Another program has locked the file."""


class SqliteReplica:
    """The timelines in one SQLite file.

    The methods raise CommandError if the file cannot be used, and LockedError while another program has locked it.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file, or make it.

        Raises:
            CommandError: The file cannot be opened, or is not the file of a replica.
        """
        self._path = path
        if os.path.exists(path) and not os.path.isfile(path):
            raise CommandError(f"{path}: no regular file; {_FOREIGN}")
        with self._explain():
            self._connection = sqlite3.connect(path, _BUSY, isolation_level=None)
            held = {name for (name,) in self._connection.execute("select name from sqlite_master where type = 'table'")}
            if held and "timelines" not in held:  # The file of another program stays as it is.
                raise CommandError(f"{path}: {_FOREIGN}")
            self._connection.execute("pragma journal_mode = wal")  # Clients read while a transaction writes.
            self._connection.executescript(_SQL["schema"])
            self._connection.execute("select timeline_id, event_id from positions limit 1")

    def publication(self, timeline_id: str) -> str | None:
        """Return the name of the order that the file holds; None for a timeline that it does not have."""
        found = self._select("select publication from timelines where timeline_id = ?", timeline_id)
        return found[0][0] if found else None

    def count_events(self, timeline_id: str) -> int:
        """Return the number of events of a timeline."""
        return self._select("select coalesce(sum(size), 0) from blocks where timeline_id = ?", timeline_id)[0][0]

    def order(self, timeline_id: str) -> list[str]:
        """Return the events of a timeline in order."""
        sql = "select event_id from positions where timeline_id = ? order by position"
        return [event for (event,) in self._select(sql, timeline_id)]

    def _select(self, sql: str, timeline_id: str) -> list[tuple]:
        with self._explain():
            return self._connection.execute(sql, (timeline_id,)).fetchall()

    def load(self, timeline_id: str, event_ids: list[str], events: Iterable[dict], publication: str) -> int:
        """Replace a timeline by an order, in one transaction; return the number of written rows."""
        with self._transaction(timeline_id, events, publication) as begun:
            self._connection.execute("delete from blocks where timeline_id = ?", (timeline_id,))
            self._write_blocks(timeline_id, event_ids)
        return self._connection.total_changes - begun

    def apply(self, timeline_id: str, commands: Iterable[Command], events: Iterable[dict], publication: str) -> int:
        """Apply the commands of an update, in one transaction; return the number of written rows.

        Raises:
            EditError: A command does not fit the order; the file stays as it was.
        """
        with self._transaction(timeline_id, events, publication) as begun:
            follow(commands, _Order(self._connection, timeline_id))
        return self._connection.total_changes - begun

    @contextmanager
    def _transaction(self, timeline_id: str, events: Iterable[dict], publication: str) -> Iterator[int]:
        begun = self._connection.total_changes
        with self._explain():
            self._connection.execute("begin immediate")
            try:
                self._connection.executemany(
                    _SQL["write_event"], ({"timeline_id": timeline_id, **event} for event in events)
                )
                yield begun
                sql = "insert or replace into timelines values (?, ?)"
                self._connection.execute(sql, (timeline_id, publication))
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    def _write_blocks(self, timeline_id: str, event_ids: list[str]) -> None:
        sql = "insert or ignore into events (timeline_id, event_id) values (?, ?)"
        self._connection.executemany(sql, ((timeline_id, event) for event in event_ids))
        sql = "select event_id, number from events where timeline_id = ?"
        number_of = dict(self._connection.execute(sql, (timeline_id,)))
        numbers, half = [number_of[event] for event in event_ids], BLOCK // 2
        parts = [numbers[first : first + half] for first in range(0, len(numbers), half)]
        rows = ((timeline_id, n * _GAP, len(part), json.dumps(part)) for n, part in enumerate(parts))
        self._connection.executemany("insert into blocks values (?, ?, ?, ?)", rows)

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


class _Order:
    """The order of one timeline as the listener of commands (`replica.Listener`)."""

    def __init__(self, connection: sqlite3.Connection, timeline_id: str) -> None:
        self._connection, self._timeline_id = connection, timeline_id
        sql = "select place, size from blocks where timeline_id = ? order by place"
        self._blocks = [[*row] for row in connection.execute(sql, (timeline_id,))] or [[0, 0]]
        self._length = sum(size for _, size in self._blocks)

    def on_insert(self, position: int, event: Any) -> None:
        """Insert an event at a position; see `replica.Listener`."""
        self._check(position, self._length + 1)
        block, offset = self._find(position)
        numbers = self._read(block)
        numbers.insert(offset, self._number_of(event))
        self._length += 1
        if len(numbers) <= BLOCK:
            self._write(block, numbers)
            return
        middle = len(numbers) // 2
        self._make_room(block)
        self._write(block, numbers[:middle])
        self._write(block + 1, numbers[middle:])

    def on_move(self, from_position: int, to_position: int) -> Any:
        """Move an event and return it; see `replica.Listener`."""
        self._check(from_position, self._length)
        self._check(to_position, self._length)
        block, offset = self._find(from_position + 1)
        numbers = self._read(block)
        sql = "select event_id from events where number = ?"
        event = self._connection.execute(sql, (numbers.pop(offset - 1),)).fetchone()[0]
        self._length -= 1
        self._write(block, numbers)
        self.on_insert(to_position, event)
        return event

    def _number_of(self, event: str) -> int:
        both = self._timeline_id, event
        self._connection.execute("insert or ignore into events (timeline_id, event_id) values (?, ?)", both)
        sql = "select number from events where timeline_id = ? and event_id = ?"
        return self._connection.execute(sql, both).fetchone()[0]

    @staticmethod
    def _check(position: int, end: int) -> None:
        if not 0 <= position < end:
            raise IndexError(f"position {position} is not below {end}")

    def _find(self, position: int) -> tuple[int, int]:
        """Return the block that holds the event before a position, and the offset behind that event."""
        for number, (_, size) in enumerate(self._blocks):
            if position <= size:
                return number, position
            position -= size
        raise AssertionError("the position is checked")

    def _make_room(self, number: int) -> None:
        """Add an empty block behind a block."""
        place = self._blocks[number][0]
        following = self._blocks[number + 1][0] if number + 1 < len(self._blocks) else place + 2 * _GAP
        if following - place < 2:  # After 32 splits at one place, all places are spread anew.
            self._spread()
            place, following = self._blocks[number][0], (number + 1) * _GAP
        self._blocks.insert(number + 1, [(place + following) // 2, 0])

    def _spread(self) -> None:
        # Negative places first, as the new places may be those of other blocks.
        for sign in (-1, 1):
            for number, block in enumerate(self._blocks):
                place = sign * (number + (sign < 0)) * _GAP
                sql = "update blocks set place = ? where timeline_id = ? and place = ?"
                self._connection.execute(sql, (place, self._timeline_id, block[0]))
                block[0] = place

    def _read(self, block: int) -> list[int]:
        sql = "select numbers from blocks where timeline_id = ? and place = ?"
        found = self._connection.execute(sql, (self._timeline_id, self._blocks[block][0])).fetchone()
        return json.loads(found[0]) if found else []

    def _write(self, block: int, numbers: list[int]) -> None:
        place = self._blocks[block][0]
        if not numbers and len(self._blocks) > 1:
            del self._blocks[block]
            sql = "delete from blocks where timeline_id = ? and place = ?"
            self._connection.execute(sql, (self._timeline_id, place))
            return
        self._blocks[block][1] = len(numbers)
        row = self._timeline_id, place, len(numbers), json.dumps(numbers)
        self._connection.execute("insert or replace into blocks values (?, ?, ?, ?)", row)
