"""`tangles follow`: an SQLite file that follows the publications of a timeline."""

import json
import os
import random
import sqlite3
import threading
from contextlib import closing

import pyarrow as pa
import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse, assert_harmless
from dbt_tangles.algorithms.timeline.edits import script_between
from dbt_tangles.algorithms.timeline.replica import EditError
from dbt_tangles.algorithms.timeline.updates import name_order
from dbt_tangles.cli import follow as follow_command
from dbt_tangles.cli import sqlite_replica
from dbt_tangles.cli.sqlite_replica import SqliteReplica
from dbt_tangles.cli.tables import CommandError

LINE = "t"


def name(order: list[str]) -> str:
    return name_order(pa.array(order, pa.string()))


def publish(warehouse: Warehouse, order: list[str], earlier: list[str] | None = None) -> None:
    """Write the tables of a build that publishes an order after an earlier one, with rows in no order."""
    warehouse.fill("timeline_events", "position event_id", *reversed([*enumerate(order)]), timeline_id=LINE)
    both = {"publication": name(order), "previous_publication": name(earlier) if earlier else None}
    commands = [(step, *command) for step, command in enumerate(script_between(earlier or [], order), 1)]
    columns = "step op event_id from_position to_position"
    warehouse.fill("timeline_updates", columns, *reversed(commands), timeline_id=LINE, **both)


def follow(warehouse: Warehouse, path, timeline: str = LINE) -> dict:
    result = warehouse.ask("follow", timeline, "--into", str(path), "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def positions(path, timeline: str = LINE) -> list[str]:
    """Read the order as a client does; positions count from 0 without gaps."""
    with closing(sqlite3.connect(path)) as connection:
        sql = "select position, event_id from positions where timeline_id = ? order by position"
        rows = connection.execute(sql, (timeline,)).fetchall()
    assert [position for position, _ in rows] == [*range(len(rows))]
    return [event for _, event in rows]


@pytest.fixture
def warehouse(tmp_path) -> Warehouse:
    return Warehouse(tmp_path / "wh")


def test_a_new_file_loads_and_then_applies_updates(warehouse, tmp_path):
    """Events that left the timeline leave the file, which is then loaded again."""
    path = tmp_path / "chat.sqlite"
    publish(warehouse, ["a", HOSTILE, "c"])
    assert follow(warehouse, path)["way"] == "load" and positions(path) == ["a", HOSTILE, "c"]
    again = follow(warehouse, path)
    assert [again[key] for key in ("way", "commands", "rows_written", "events")] == ["unchanged", 0, 0, 3]
    publish(warehouse, ["a", "n", "c", HOSTILE], ["a", HOSTILE, "c"])
    step = follow(warehouse, path)
    assert (step["way"], step["commands"], step["events"]) == ("update", 2, 4)
    assert positions(path) == ["a", "n", "c", HOSTILE]
    publish(warehouse, ["a", "c"])
    assert follow(warehouse, path)["way"] == "load" and positions(path) == ["a", "c"]


@pytest.mark.parametrize(("seed", "gap"), [(0, 1 << 32), (2, 8), (3, 2)])
def test_any_publications_in_few_rows_an_edit(warehouse, tmp_path, monkeypatch, seed, gap):
    """An edit writes one row. Where gaps are small, they fill up, and all events get new places."""
    monkeypatch.setattr(sqlite_replica, "_GAP", gap)
    rng, path, order = random.Random(seed), tmp_path / "chat.sqlite", ["0"]
    publish(warehouse, order)
    follow(warehouse, path)
    for night in range(1, 30):
        later = [*order]
        for number in range(rng.randrange(1, 6)):
            later.insert(rng.choice([0, len(later) // 2, rng.randrange(len(later) + 1)]), f"{night}.{number}")
        for _ in range(rng.randrange(3)):
            later.insert(rng.randrange(len(later)), later.pop(rng.randrange(len(later))))
        publish(warehouse, later, order)
        if night % 7 == 3:  # The replica misses this publication.
            order = later
            continue
        step = follow(warehouse, path)
        assert step["way"] == ("script" if night % 7 == 4 else "update")
        order = later
        assert positions(path) == order
        assert step["rows_written"] <= step["commands"] + 1 or gap <= 8
    assert step["events"] == len(order)


def events(*ids: str) -> list[dict]:
    return [{"event_id": id_, "author": "x", "sent_at": None, "content_type": None, "content": None} for id_ in ids]


def test_a_command_that_does_not_fit_changes_nothing(tmp_path):
    replica = SqliteReplica(tmp_path / "x.sqlite")
    replica.load(LINE, events("a", "b"), "p")
    for command in [("ins", "c", None, 4), ("mov", "b", 0, 1), ("mov", "a", 2, 0)]:
        with pytest.raises(EditError):
            replica.apply(LINE, [("ins", "first", None, 0), command], events("first"), "q")
        assert replica.order(LINE) == ["a", "b"] and replica.publication(LINE) == "p"


def test_authors_are_those_of_the_followed_timeline(warehouse, tmp_path):
    """Three timelines have an event of one id; in two of them it is of an event log, in one a message."""
    path = tmp_path / "chat.sqlite"
    warehouse.write("ssb_messages", story.message("%a", "@alice", 1, content_type="post", content="hi"))
    authors = {"s": "ann", "t": "bob", "ssb:log": "@alice"}
    events = [(line, author, "%a" if line == "ssb:log" else None) for line, author in authors.items()]
    warehouse.fill("timeline_events", "timeline_id author message_id", *events, event_id="%a", position=0)
    warehouse.write("timeline_updates")
    for way in ("load", "unchanged"):  # None of them has an update.
        assert {follow(warehouse, path, line)["way"] for line in authors} == {way}
    with closing(sqlite3.connect(path)) as connection:
        columns = "timeline_id, author, content_type, content"
        sql = f"select {columns} from positions left join events using (timeline_id, event_id)"
        rows = connection.execute(sql).fetchall()
    assert sorted(rows) == [("s", "ann", None, None), ("ssb:log", "@alice", "post", "hi"), ("t", "bob", None, None)]


def test_clients_read_during_a_transaction(tmp_path):
    replica, seen = SqliteReplica(tmp_path / "x.sqlite"), []
    replica.load(LINE, events("a"), "p")

    def commands():
        yield "ins", "b", None, 1
        seen.append(positions(tmp_path / "x.sqlite"))

    replica.apply(LINE, commands(), events("b"), "q")
    assert seen == [["a"]] and positions(tmp_path / "x.sqlite") == ["a", "b"]


def test_an_unknown_timeline(warehouse, tmp_path):
    publish(warehouse, ["a"])
    result = warehouse.ask("follow", HOSTILE, "--into", str(tmp_path / "x.sqlite"))
    assert result.exit_code == 1 and "no such timeline" in result.stderr
    assert_harmless(result)


@pytest.fixture
def held(warehouse, tmp_path):
    path = tmp_path / "chat.sqlite"
    publish(warehouse, ["a", "b"])
    follow(warehouse, path)
    publish(warehouse, ["a", "b", "c"], ["a", "b"])
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("begin exclusive")
        yield path, other


def test_waits_for_a_lock(warehouse, held):
    path, other = held
    timer = threading.Timer(0.5, lambda: other.execute("commit"))
    timer.start()
    result = warehouse.ask("follow", LINE, "--into", str(path))
    timer.join()
    assert result.exit_code == 0 and "1 command of the latest update" in result.stdout
    assert positions(path) == ["a", "b", "c"]


def test_a_lock_that_stays_ends_the_command(warehouse, held, monkeypatch):
    monkeypatch.setattr(sqlite_replica, "MOST_SECONDS", 0.0)
    path, _ = held
    result = warehouse.ask("follow", LINE, "--into", str(path))
    assert result.exit_code == 2 and "locked the file; end its transaction" in result.stderr
    assert "--into names" not in result.stderr


def test_repeated_looks_go_on_after_a_lock(warehouse, held, monkeypatch):
    """The lock ends before the third look. The command is interrupted once the file is up to date."""
    path, other = held
    naps = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 2:
            other.execute("rollback")
        if len(naps) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(sqlite_replica, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(follow_command.time, "sleep", nap)
    result = warehouse.ask("follow", LINE, "--into", str(path), "--every", "2")
    assert result.exit_code == 0 and naps == [2.0] * 4
    assert result.stderr.count("locked the file; end its transaction; the next try is in 2 s") == 2
    assert result.stdout.count("1 command of the latest update") == 1
    assert positions(path) == ["a", "b", "c"]


@pytest.mark.parametrize("is_link", [False, True], ids=["path", "link"])
def test_a_file_inside_the_warehouse_is_refused(warehouse, tmp_path, is_link):
    inside = path = warehouse.folder / "chat.sqlite"
    if is_link:
        path = tmp_path / "link.sqlite"
        path.symlink_to(inside)
    result = warehouse.ask("follow", LINE, "--into", str(path))
    assert result.exit_code == 2 and "is inside the warehouse" in result.stderr and not inside.exists()


def test_the_file_of_another_program_stays_as_it_is(warehouse, tmp_path):
    publish(warehouse, ["a"])
    path = tmp_path / "photos.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table photos (x)")
    for content in (path.read_bytes(), b"not a database" * 100):
        path.write_bytes(content)
        result = warehouse.ask("follow", LINE, "--into", str(path))
        assert result.exit_code == 2 and f"{path}: " in result.stderr and "--into names a file" in result.stderr
        assert path.read_bytes() == content


def test_each_cause_has_its_remedy(warehouse, tmp_path):
    warehouse.write("feeds")
    result = warehouse.ask("follow", LINE, "--into", str(tmp_path / "x.sqlite"))
    assert result.exit_code == 2 and "timeline_events is not built" in result.stderr
    publish(warehouse, ["a"])
    os.mkfifo(tmp_path / "pipe")
    said = {"no such folder/x.sqlite": "its folder must exist", "pipe": "no regular file"}
    for name, words in said.items():
        result = warehouse.ask("follow", LINE, "--into", str(tmp_path / name))
        assert result.exit_code == 2 and words in result.stderr, result.stderr
    path = tmp_path / "x.sqlite"
    follow(warehouse, path)
    for error, words in {
        "database disk image is malformed": "the file is damaged; delete it",
        "attempt to write a readonly database": "permits no writing",
        "database or disk is full": "free some space",
        "disk I/O error": "the disk cannot be read or written",
    }.items():
        with pytest.raises(CommandError, match=words), SqliteReplica(path)._explain():
            raise sqlite3.OperationalError(error)
