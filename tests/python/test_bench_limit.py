"""LIMIT is the same in all parts: read the needed columns, shuffle them by graph, write the model's rows."""

from types import SimpleNamespace

import pytest

from bench import autobase, graphs, groups, limit, sets, tables, timelines, turns
from bench.cpu import Spent
from bench.limit import Limit, Pieces
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA as MEMBERS
from dbt_tangles.algorithms.private_group.foreign_excludes import FOREIGN_INPUT_SCHEMA as LINKS
from dbt_tangles.algorithms.private_group.schemas import INPUT_SCHEMA as GROUP_MESSAGES
from dbt_tangles.algorithms.set.set_batches import INPUT_SCHEMA as ENTRIES


class _Frame:
    """A stand-in for rows: records their origin and the work done with them."""

    sparkSession = None

    def __init__(self, name, done, columns=None, keys=None):
        self.name, self.done, self.columns, self.keys = name, done, columns, keys

    def select(self, *columns):
        names = columns[0] if isinstance(columns[0], list) else columns
        return _Frame(self.name, self.done, [each.rpartition(".")[2] for each in names])

    def where(self, condition):
        return self

    def gathered(self, keys):
        return _Frame(self.name, self.done, self.columns, keys)

    @property
    def write(self):
        return self

    def format(self, kind):
        assert kind == "noop"
        return self

    def mode(self, mode):
        return self

    def save(self):
        self.done.append(("given away", self.name, self.keys))


class _Watch:
    """A watch on which each piece of work takes a second more than the previous one."""

    def __init__(self):
        self.seconds = 0

    def measure(self):
        self.seconds += 1
        return _Measured(spent(self.seconds))


class _Measured:
    def __init__(self, spent):
        self.spent = spent

    def __enter__(self):
        return self.spent

    def __exit__(self, *error):
        pass


def spent(cpu, wall=1.0):
    return Spent(wall, {"driver": 0.0, "jvm": cpu, "workers": 0.0})


@pytest.fixture
def done(monkeypatch):
    """The recorded work, in order."""
    found = []
    monkeypatch.setattr(limit.session, "write", lambda rows, table: found.append(("written", rows.name, table)))
    monkeypatch.setattr(limit, "gather", lambda rows, *keys: rows.gathered(keys))
    return found


def test_inputs_are_shuffled_and_outputs_are_written_and_reread(done):
    wanted = Limit(
        needs=lambda: [(_Frame("nodes", done), ["graph"]), (_Frame("count", done), [])],
        writes=lambda: [_Frame("levels", done), _Frame("edges", done)],
    )
    pieces = wanted.measure(_Watch())
    assert done == [
        ("given away", "nodes", ("graph",)),
        ("given away", "count", None),
        ("written", "levels", "same_0"),
        ("written", "edges", "same_1"),
        ("given away", "levels", None),
        ("given away", "edges", None),
    ]
    assert [piece.total for piece in pieces] == [1, 2, 3]


def test_reading_again_is_no_part_of_it():
    found = Pieces(spent(5, wall=4), spent(3, wall=3), spent(1, wall=2)).spent
    assert (found.total, found.wall) == (7, 5)


def test_the_limit_is_at_least_the_moved_part():
    """With few rows the difference of two measurements is chance."""
    found = Pieces(spent(5), spent(1), spent(2)).spent
    assert (found.total, found.wall) == (5, 1)


def test_pieces_are_told():
    runs = [Pieces(spent(5), spent(3), spent(1)), Pieces(spent(7), spent(3), spent(2)), Pieces(*map(spent, (9, 9, 0)))]
    told = limit.summary(runs)
    assert told["cpu_s_by_piece"] == {"moved": 7, "written": 3, "reread": 1}
    assert (told["cpu_s"], told["cpu_s_of_runs"]) == (8, [7, 8, 18])


def test_work_and_limit_take_turns(done):
    wanted = Limit(lambda: [(_Frame("in", done), ["g"])], lambda: [_Frame("out", done)])
    found = turns.beside_limit(_Watch(), 2, "who", "model", lambda: done.append("model"), wanted)
    assert [each for each in done if each == "model" or each[0] == "written"] == 2 * [
        "model",
        ("written", "out", "same_0"),
    ]
    # 1; 2 + 3 - 4; 5; 6 + 7 - 8: reading again took longer than writing, so only the moved rows count.
    assert (found["model"]["cpu_s"], found["limit"]["cpu_s"], found["ratio"]) == (3, 4, 0.75)
    assert found["ratio_of_least"] == 0.5


def test_a_ratio_to_zero_seconds_is_finite():
    assert turns.ratio(1, 0) == 100


def of_part(make, monkeypatch, modules=()):
    """Return the limit of a part over stand-ins: its needs, and the rows it writes."""
    for module in modules:
        monkeypatch.setattr(module, "stored", lambda *about: "folder")
    spark = SimpleNamespace(
        read=SimpleNamespace(parquet=lambda place: _Frame(place, [])), table=lambda name: _Frame(name, [])
    )
    found = make(spark).limit
    needs = [(rows.name, rows.columns, list(keys)) for rows, keys in found.needs()]
    return needs, [rows.name for rows in found.writes()]


def test_timelines_shuffle_arrivals(monkeypatch):
    needs, writes = of_part(lambda spark: timelines.InSpark("one", 1, spark, None), monkeypatch, [timelines])
    assert needs == [("folder", None, ["timeline_id"])]
    assert writes == ["bench.found"]


def test_sets_shuffle_entries(monkeypatch):
    needs, writes = of_part(lambda spark: sets.InSpark("one", 1, spark, None), monkeypatch, [sets])
    assert needs == [("folder", ENTRIES.names, ["set_id"])]
    assert writes == ["bench.found"]


def test_bases_shuffle_members(monkeypatch):
    make = lambda spark: autobase.InSpark("int_autobase_views", 1, spark, None)  # noqa: E731
    needs, writes = of_part(make, monkeypatch, [autobase])
    assert needs == [("folder", MEMBERS.names, ["base_id"])]
    assert writes == ["bench.found"]


def test_groups_shuffle_messages_and_keys(monkeypatch):
    """Every column that the kernel reads is in them once."""
    from pathlib import Path

    monkeypatch.setattr(groups, "stored", lambda *about: Path("folder"))
    needs, writes = of_part(lambda spark: groups.InSpark("int_group_results", "one", 1, spark, None), monkeypatch)
    (messages, columns, by_group), (lines, keys, by_message) = needs
    assert (messages, by_group, lines, by_message) == ("folder/messages", ["group_id"], "folder/lines", ["message_id"])
    assert {*columns, *keys} == {*GROUP_MESSAGES.names, "key_fingerprint"} and "epoch_key" not in columns
    assert writes == ["bench.found"]
    make = lambda spark: groups.InSpark("int_group_foreign_excludes", "one", 1, spark, None)  # noqa: E731
    assert of_part(make, monkeypatch)[0] == [("folder/links", LINKS.names, ["group_id"])]


def test_graphs_shuffle_candidates_once(monkeypatch):
    def make(spark):
        return graphs.Bench("W", 1, SimpleNamespace(spark=spark, watch=None))

    needs, writes = of_part(make, monkeypatch, [graphs])
    assert needs == [("bench.int_tangle_candidates", None, ["tangle_name", "root_id"])]
    assert writes == ["bench.int_tangle_levels", "bench.int_tangle_edges"]


@pytest.mark.parametrize(
    ("columns", "graph"),
    [
        (["message_id", "root_id", "tangle_name"], ["tangle_name", "root_id"]),
        (["event_id", "timeline_id"], ["timeline_id"]),
        (["root_id", "content"], ["root_id"]),
        ([], []),
    ],
)
def test_tables_are_shuffled_by_their_graph(columns, graph):
    """A table without a graph is shuffled by its first column; without columns it is not shuffled."""
    assert tables.graph_of(columns) == graph
