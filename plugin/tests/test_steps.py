"""Steps from one content of a table to another, and the groups that they touch."""

from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_spark_python.changes import find_differing
from dbt_spark_python.steps import MOST_STEPS, find_steps, has_columns, note_step
from dbt_spark_python.touched import find_touched

COLUMNS = "shop string, day int, notes array<string>"


def step(folders, origin: str, content: str, shops=("a",), table: str = "t") -> None:
    """Note a step between two contents."""
    files = folders.new_folder()
    files.mkdir()
    pq.write_table(pa.table({"shop": pa.array(shops, pa.string())}), files / "part-0.parquet")
    note_step(folders, "s", table, origin, content, files)


def found(folders, origin: str, content: str) -> list[str] | None:
    steps = find_steps(folders, "s", "t", origin, content)
    return None if steps is None else [path.name.rpartition("-")[0] for path in steps]


def test_steps_follow_each_other(folders):
    """By contents alone: whatever came between, a way from one to the other is a way."""
    for origin, content in (("1", "2"), ("2", "3"), ("3", "4")):
        step(folders, origin, content)
    assert found(folders, "1", "4") == ["1-2", "2-3", "3-4"]
    assert found(folders, "2", "2") == []
    assert found(folders, "4", "1") is None
    assert found(folders, "0", "4") is None
    step(folders, "4", "2")  # as it was once
    assert found(folders, "1", "2") == ["1-2"]
    assert found(folders, "3", "2") == ["3-4", "4-2"]
    step(folders, "x", "y")  # of what the table was not made, so nothing leads here
    assert found(folders, "1", "2") is None
    assert found(folders, "x", "y") == ["x-y"]


def test_steps_do_not_pile_up(folders):
    for number in range(MOST_STEPS + 5):
        step(folders, f"{number}", f"{number + 1}")
    end = f"{MOST_STEPS + 5}"
    assert found(folders, "4", end) is None
    assert len(found(folders, "5", end)) == MOST_STEPS
    assert len(list((folders.root / "s.db" / ".steps" / "t").iterdir())) == MOST_STEPS


def test_a_step_whose_files_are_others_is_none(folders):
    """A kill may leave one without some of its files; a hand may have changed one."""
    step(folders, "1", "2")
    (way,) = find_steps(folders, "s", "t", "1", "2")
    assert has_columns([way], ["shop"])
    assert not has_columns([way], ["shop", "day"])
    file = next(way.iterdir())
    written = file.read_bytes()
    pq.write_table(pa.table({"shop": pa.array([], pa.string())}), file)
    assert found(folders, "1", "2") is None
    file.write_bytes(written)
    assert found(folders, "1", "2") == ["1-2"]
    file.unlink()
    assert found(folders, "1", "2") is None
    step(folders, "1", "2", ["a", "b"])
    assert found(folders, "1", "2") == ["1-2"]
    assert len(list(way.parent.iterdir())) == 1


def test_a_step_is_known_by_its_newest_values(folders):
    """Others may ask for more columns than those who asked before."""
    step(folders, "1", "2")
    step(folders, "2", "1")
    step(folders, "1", "2", ["a", "b"])
    (way,) = find_steps(folders, "s", "t", "1", "2")
    assert pq.read_table(way)["shop"].to_pylist() == ["a", "b"]
    assert found(folders, "2", "1") == ["2-1"]
    step(folders, "1", "2", ["a", "b"])
    assert found(folders, "1", "2") == ["1-2"]


@pytest.mark.both
def test_the_values_of_rows_that_differ(spark, tmp_path):
    """As often as they are, whatever their order; null is a value."""
    numbers = count()

    def differing(before, after, columns=("shop",), kind=COLUMNS, by_digests=False):
        frames = (spark.createDataFrame(rows, kind) for rows in (before, after))
        found = find_differing(*frames, tmp_path / str(next(numbers)), columns, by_digests=by_digests)
        values = pq.read_table(found.folder).select(columns).to_pylist() if found.count else []
        return sorted({tuple(value.values()) for value in values}, key=repr)

    rows = [("a", 1, ["x"]), ("a", 2, None), (None, 1, None), ("b", 1, [None])]
    assert differing(rows, rows[::-1]) == []
    assert differing(rows, [*rows, rows[0]]) == [("a",)]
    assert differing(rows, [*rows[:2], (None, 2, None), rows[3]]) == [(None,)]
    assert differing(rows, [*rows[:3], ("c", 1, [None])]) == [("b",), ("c",)]
    assert differing(rows, [*rows[:3], ("b", 1, [])], ("shop", "day")) == [("b", 1)]
    # Of groups by their digest alone: what says something else there follows from it.
    digested = [("a", 1, b"1"), ("b", 1, b"2")]
    kind = "shop string, day int, group_digest binary"
    assert differing(digested, [("a", 2, b"1"), ("b", 1, b"3")], kind=kind, by_digests=True) == [("b",)]
    assert differing(digested, [("a", 2, b"1"), ("b", 1, b"3")], kind=kind) == [("a",), ("b",)]


@pytest.mark.both
def test_groups_that_are_touched(spark, folders):
    step(folders, "1", "2", ["a", None])
    step(folders, "2", "3", ["a", "b"])
    step(folders, "1", "2", ["c"], table="u")
    before = {"s.t": "1", "s.u": "1", "s.v": "1"}
    of = {"s.t": ["shop"], "s.u": ["shop"]}

    def touched(now, of=of):
        groups = find_touched(spark, folders, before, now, of, ["place"])
        return groups and sorted(row.place or "null" for row in groups.names.rows.collect())

    assert touched(before | {"s.t": "3"}) == ["a", "b", "null"]
    assert touched(before | {"s.t": "2", "s.u": "2"}) == ["a", "c", "null"]
    assert touched(before | {"s.t": "4"}) is None  # nothing leads there
    assert touched(before | {"s.v": "2"}) is None  # read whole
    assert touched(before | {"s.t": "2", "s.w": "1"}) is None
    assert touched(before | {"s.t": "2"}, {"s.t": ["day"]}) is None
    follows = of | {"s.v": []}
    assert touched(before | {"s.t": "2", "s.v": "2"}, follows) == ["a", "null"]
    assert touched(before | {"s.v": "2"}, follows) is None  # of that alone nothing is known

    groups = find_touched(spark, folders, before, before | {"s.t": "2"}, of, ["place"])
    rows = spark.createDataFrame([("a", 1), (None, 2), ("", 3), ("b", 4)], "shop string, day int")
    assert sorted(row.day for row in groups.of(rows, ["shop"]).collect()) == [1, 2]
    assert sorted(row.day for row in groups.others(rows.toDF("place", "day")).collect()) == [3, 4]
