"""The store of an online timeline in an SQLite file: memory holds pages of the file, and what an arrival moves.

Source: ScuttleSort 2022-05-09, section 6, which asks for a database that caps memory.

An index has the events by rank and name. A block is a range of that index with the number of its events, so the
position of an event is a sum over blocks and a count within one.
"""

from __future__ import annotations

import sqlite3
from heapq import heappop, heappush
from os import PathLike
from typing import Any

from dbt_tangles.algorithms.timeline.replica import Command
from dbt_tangles.queries import sections

#: A block with more events is divided into blocks of half as many.
BLOCK = 512
_SQL = sections(__file__)
_END = (1 << 62, "")  # A key behind all others

#: The rank and the name of an event: the order is that of keys.
Key = tuple[int, str]


class SqliteStore:
    """The events of one timeline; the store of `timeline.Timeline`."""

    def __init__(self, path: str | PathLike, cache_bytes: int) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._run("pragma journal_mode = wal")  # Other programs read while an event is added.
        self._run("pragma synchronous = normal")
        self._run(f"pragma cache_size = -{max(int(cache_bytes) // 1024, 1)}")
        self._connection.executescript(_SQL["schema"])

    def __len__(self) -> int:
        return self._run("select sum(size) from blocks").fetchone()[0]

    def causes(self, name: str) -> set[str] | None:
        """Return the causes of an event that has arrived."""
        found = self._run("select number from events where event_id = ? and rank is not null", name).fetchone()
        return found and {cause for (cause,) in self._run(_SQL["causes"], *found)}

    def insert(self, name: str, causes: list[str]) -> tuple[str | None, list[Command]]:
        """Insert a new event in one transaction, see `memory_store.MemoryStore.insert`."""
        self._run("begin immediate")
        try:
            follower, commands = self._insert(name, causes)
            self._run("commit" if follower is None else "rollback")
        except BaseException:
            self._connection.rollback()
            raise
        return follower, commands

    def order(self) -> list[str]:
        """Return the events in order."""
        return [name for (name,) in self._run("select event_id from positions order by position")]

    def rank(self, name: str) -> int | None:
        """Return the rank of an event that has arrived."""
        found = self._run("select rank from events where event_id = ?", name).fetchone()
        return found and found[0]

    def pending(self) -> dict[str, list[str]]:
        """Return the awaited events, each with the events that list it."""
        found: dict[str, list[str]] = {}
        for awaited, effect in self._run(_SQL["pending"]):
            found.setdefault(awaited, []).append(effect)
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(sql, values)

    def _insert(self, name: str, causes: list[str]) -> tuple[str | None, list[Command]]:
        sql = "insert or ignore into events (event_id) values (?)"
        self._connection.executemany(sql, ((each,) for each in (name, *causes)))
        sql = "select number, rank from events where event_id = ?"
        (x, _), *known = (self._run(sql, each).fetchone() for each in (name, *causes))
        old, new = self._wave(x, name, max((rank + 1 for _, rank in known if rank is not None), default=0))
        for (cause, _), listed in zip(known, causes, strict=True):
            if cause in old:
                return listed, []
        low, high = min((*old.values(), new[x])), max(new.values())
        begin = self._run(_SQL["block"], *low).fetchone()[:2]
        (first,) = self._run(_SQL["position"], *begin, *low, *begin).fetchone()
        before = self._names(low, high) if old else []
        self._connection.executemany("insert into links values (?, ?)", ((cause, x) for cause, _ in known))
        ranks = ((rank, event) for event, (rank, _) in new.items())
        self._connection.executemany("update events set rank = ? where number = ?", ranks)
        self._count(begin, high)
        if not old:
            return None, [("ins", name, None, first)]
        from dbt_tangles.algorithms.timeline.edits import script_between  # Needs numba.

        return None, script_between(before, self._names(low, high), first)

    def _names(self, low: Key, high: Key) -> list[str]:
        return [name for _, name in self._run(_SQL["keys"], *low, high[0], high[1] + "\0")]

    def _wave(self, x: int, name: str, needed: int) -> tuple[dict[int, Key], dict[int, Key]]:
        """Return the old keys of the events that an event raises, and the new keys of these and of the event.

        Causes have lower ranks than their effects, so each event has its last rank when it leaves the heap.
        """
        target, old, heap = {x: needed}, {x: (-1, name)}, [(-1, x)]
        while heap:
            _, event = heappop(heap)
            now = target[event]
            for effect, rank, effect_name in self._run(_SQL["effects"], event):
                if rank <= now and target.get(effect, -1) <= now:
                    if effect not in target:
                        heappush(heap, (rank, effect))
                        old[effect] = rank, effect_name
                    target[effect] = now + 1
        new = {event: (rank, old[event][1]) for event, rank in target.items()}
        del old[x]
        return old, new

    def _count(self, begin: Key, high: Key) -> None:
        """Count the events of the blocks from one to that of a key, and divide them if they have become too large."""
        end = self._run(_SQL["end"], *high).fetchone() or _END
        inside, size = self._run(_SQL["sum"], *begin, *end).fetchone()
        if inside == 1 and size < BLOCK:
            self._run("update blocks set size = size + 1 where (rank, event_id) = (?, ?)", *begin)
            return
        self._run("delete from blocks where (rank, event_id) >= (?, ?) and (rank, event_id) < (?, ?)", *begin, *end)
        keys = self._run(_SQL["keys"], *begin, *end).fetchall()
        half = BLOCK // 2
        parts = [keys[at : at + half] for at in range(0, len(keys), half)]
        rows = [(*(begin if n == 0 else part[0]), len(part)) for n, part in enumerate(parts)]
        self._connection.executemany("insert into blocks values (?, ?, ?)", rows)
