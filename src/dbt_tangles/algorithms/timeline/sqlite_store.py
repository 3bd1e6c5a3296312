"""The store of an online timeline in an SQLite file; memory holds pages of the file, and the events that an arrival moves.

Source: ScuttleSort 2022-05-09, section 6, which asks for a database that caps memory.

An index has the events by rank and name. A block is a range of that index with the number of its events; a block of
level 2 is a range of blocks. So a position is found from some hundred rows, however many events there are.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from heapq import heappop, heappush
from os import PathLike
from pathlib import Path

from dbt_tangles.algorithms.timeline.moves import script
from dbt_tangles.algorithms.timeline.replica import Command
from dbt_tangles.queries import sections

#: A block of level 1 with more events, or of level 2 with more blocks, is split in two.
_MOST = 256
_SQL = sections(Path(__file__).with_name("sqlite_store.sql"))

#: The rank and the name of an event: the order is that of keys.
Key = tuple[int, str]
_END: Key = (1 << 62, "")


class SqliteStore:
    """The events of one timeline; the store of `timeline.Timeline`."""

    def __init__(self, path: str | PathLike, cache_bytes: int) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._run("pragma journal_mode = wal")  # Other programs read while an event is added.
        self._run("pragma synchronous = normal")
        self._run(f"pragma cache_size = -{max(int(cache_bytes) // 1024, 1)}")
        self._connection.executescript(_SQL["schema"])

    def __len__(self) -> int:
        return self._value("select sum(size) from blocks where level = 2")

    def causes(self, name: str) -> set[str] | None:
        """Return the causes of an event, or None if it has not arrived."""
        number = self._value("select number from events where event_id = ? and rank is not null", name)
        return None if number is None else {cause for (cause,) in self._run(_SQL["causes"], number)}

    def insert(self, name: str, causes: list[str]) -> tuple[str | None, list[Command]]:
        """Insert a new event in one transaction, see `memory_store.MemoryStore.insert`."""
        self._run("begin immediate")
        try:
            follower, commands = self._insert(name, causes)
        except BaseException:
            self._run("rollback")
            raise
        self._run("commit" if follower is None else "rollback")
        return follower, commands

    def order(self) -> list[str]:
        """Return the events in order."""
        return [name for (name,) in self._run("select event_id from positions order by position")]

    def rank(self, name: str) -> int | None:
        """Return the rank of an event, or None if it has not arrived."""
        return self._value("select rank from events where event_id = ?", name)

    def pending(self) -> dict[str, list[str]]:
        """Return the awaited events, each with the events that list it."""
        found: dict[str, list[str]] = {}
        for awaited, effect in self._run(_SQL["pending"]):
            found.setdefault(awaited, []).append(effect)
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, sql: str, *values: int | str) -> sqlite3.Cursor:
        return self._connection.execute(sql, values)

    def _value(self, sql: str, *values: int | str) -> int | None:
        found = self._run(sql, *values).fetchone()
        return found[0] if found else None

    def _insert(self, name: str, causes: list[str]) -> tuple[str | None, list[Command]]:
        names = ((each,) for each in (name, *causes))
        self._connection.executemany("insert or ignore into events (event_id) values (?)", names)
        sql = "select number, rank from events where event_id = ?"
        (x, _), *known = (self._run(sql, each).fetchone() for each in (name, *causes))
        needed = max((1 + rank for _, rank in known if rank is not None), default=0)
        old, new = self._wave(x, name, needed)
        for (cause, _), each in zip(known, causes, strict=True):
            if cause in old:
                return each, []
        names_of = {event: key[1] for event, key in new.items()}

        def event_at(position: int) -> int:
            event = self._event_at(position)
            names_of[event] = self._value("select event_id from events where number = ?", event)
            return event

        before: dict[Key, int] = {}
        positions = {event: self._position(key, before) for event, key in old.items()}
        places = {event: self._position(key, before) for event, key in new.items()}
        commands = [(op, names_of[event], taken, put) for op, event, taken, put in script(positions, places, event_at)]
        self._connection.executemany("insert into links values (?, ?)", ((cause, x) for cause, _ in known))
        ranks = ((rank, event) for event, (rank, _) in new.items())
        self._connection.executemany("update events set rank = ? where number = ?", ranks)
        self._count(old.values(), new.values())
        return None, commands

    def _wave(self, x: int, name: str, needed: int) -> tuple[dict[int, Key], dict[int, Key]]:
        """Return the old keys of the raised events in order, and the new keys of these and of the event in order.

        Causes have lower ranks than their effects, so each event has its last rank when it leaves the heap.
        """
        target, old, names = {x: needed}, {}, {x: name}
        heap = [((-1, name), x)]
        while heap:
            key, event = heappop(heap)
            if event != x:
                old[event] = key
            for effect, rank, effect_name in self._run(_SQL["effects"], event):
                if rank <= target[event] and target.get(effect, -1) <= target[event]:
                    if effect not in target:
                        heappush(heap, ((rank, effect_name), effect))
                        names[effect] = effect_name
                    target[effect] = target[event] + 1
        new = {event: (rank, names[event]) for event, rank in target.items()}
        return old, dict(sorted(new.items(), key=lambda item: item[1]))

    def _block(self, level: int, key: Key) -> Key:
        return self._run(_SQL["block"], level, *key).fetchone()

    def _position(self, key: Key, before: dict[Key, int]) -> int:
        """Count the events before a key; `before` keeps the numbers of events before blocks."""
        block = self._block(1, key)
        if block not in before:
            above = self._block(2, block)
            before[block] = self._value(_SQL["size"], 2, -1, "", *above) + self._value(_SQL["size"], 1, *above, *block)
        return before[block] + self._value(_SQL["count"], *block, *key)

    def _event_at(self, position: int) -> int:
        """Return the event at a position."""
        start: Key = (-1, "")
        for level in (2, 1):
            for *key, size in self._run(_SQL["blocks_from"], level, *start, *_END):
                start = tuple(key)
                if position < size:
                    break
                position -= size
        return self._value(_SQL["event_from"], *start, position)

    def _count(self, old: list[Key], new: list[Key]) -> None:
        """Count the events in the blocks that they leave and enter; split blocks with too many."""
        change = Counter(self._block(1, key) for key in new)
        change.subtract(self._block(1, key) for key in old)
        for block, number in change.items():
            if number:
                self._run(_SQL["resize"], number, 1, *block)
                self._run(_SQL["resize"], number, 2, *self._block(2, block))
        for block, number in change.items():
            if number > 0 and self._split_events(block):
                self._split_blocks(self._block(2, block))

    def _split_events(self, block: Key) -> bool:
        """Split a block of level 1 until no part has too many events; return whether it was split."""
        size = self._value("select size from blocks where (level, rank, event_id) = (1, ?, ?)", *block)
        if size <= _MOST:
            return False
        middle = self._run(_SQL["event_from"], *block, size // 2).fetchone()[1:]
        self._divide(1, block, middle, size - size // 2)
        self._split_events(block)
        self._split_events(middle)
        return True

    def _split_blocks(self, block: Key) -> None:
        """Split a block of level 2 until no part has too many blocks, without those that have become empty."""
        self._run(_SQL["drop_empty"])
        sql = "select rank, event_id from blocks where level = 2 and (rank, event_id) > (?, ?) limit 1"
        end = self._run(sql, *block).fetchone() or _END
        inside = self._run(_SQL["blocks_from"], 1, *block, *end).fetchall()
        if len(inside) > _MOST:
            later = inside[len(inside) // 2 :]
            middle = later[0][:2]
            self._divide(2, block, middle, sum(size for _, _, size in later))
            self._split_blocks(block)
            self._split_blocks(middle)

    def _divide(self, level: int, block: Key, middle: Key, size: int) -> None:
        """Give so many events of a block to a new one that begins at a key."""
        self._run("insert into blocks values (?, ?, ?, ?)", level, *middle, size)
        self._run(_SQL["resize"], -size, level, *block)
