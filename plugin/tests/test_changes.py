"""How many rows of a table are new, other and gone."""

import os
from itertools import count

import pytest

from dbt_spark_python.changes import count_differing, find_differing
from dbt_spark_python.row_texts import row_text

COLUMNS = "shop string, day int, amount bigint, notes array<string>, rates map<string, int>"


def row(shop, day, amount, notes=None, rates=None):
    return (shop, day, amount, notes, rates)


@pytest.fixture
def compare(spark, tmp_path):
    """Find what differs between two versions of a table, or count it."""
    numbers = count()

    def find(before, after, *told, columns=COLUMNS, grain=None):
        frames = spark.createDataFrame(before, COLUMNS), spark.createDataFrame(after, columns)
        if not told:
            return count_differing(*frames, grain)
        found = find_differing(*frames, tmp_path / str(next(numbers)), told, grain)
        return found if grain is None else found.count_changes()

    return find


@pytest.mark.both
@pytest.mark.parametrize("told", [[], ["shop"]], ids=["counted", "and told"])
def test_rows_by_key(compare, told):
    """Null is a value of a key; what differs may be in any column; a row may be there several times."""

    def count(before, after, keys=("shop", "day"), columns=COLUMNS):
        return tuple(compare(before, after, *told, columns=columns, grain=keys).values())

    first = [row("a", 1, 5), row("a", 2, 5, ["x"]), row(None, 1, 5), row("b", None, 7, None, {"x": 1})]
    assert count(first, first[::-1]) == (0, 0, 0)
    assert count([], first) == (4, 0, 0)
    assert count(first, []) == (0, 0, 4)
    assert count([], []) == (0, 0, 0)
    second = [row("a", 1, 6), row("a", 2, 5, ["y"]), row(None, 2, 5), row("b", None, 7, None, {"x": 2}), row("c", 1, 1)]
    assert count(first, second) == (2, 3, 1)
    assert count(first, second, keys=()) == (5, 0, 4)
    assert count(first, [*first, first[0]]) == count([*first, first[0]], first) == (0, 0, 0)
    renamed = COLUMNS.replace("amount", "sum")
    assert count(first, first, columns=renamed) == (0, 4, 0)


@pytest.mark.both
def test_rows_that_are_new(compare, spark):
    """They may be added to what is there if no old one is among those that differ."""
    first = [row("a", 1, 5), row("b", 2, 5, ["x"])]
    for after, is_any_old, new in (
        ([*first, row("c", 1, 1), row("c", 1, 1)], False, ["c", "c"]),
        ([first[0], row("b", 2, 6)], True, ["b"]),
        ([*first, first[0]], True, ["a", "a"]),
        ([first[0]], True, []),
        (first[::-1], False, None),
    ):
        found = compare(first, after, "shop")
        assert found.is_any_old is is_any_old
        assert (found.count == 0) is (new is None)
        if new is not None:
            rows = found.new_rows(spark.createDataFrame(after, COLUMNS))
            assert rows.columns == ["shop", "day", "amount", "notes", "rates"]
            assert sorted(row.shop for row in rows.collect()) == new


@pytest.mark.both
def test_no_two_rows_have_one_text(spark):
    """Whatever strings look like, and wherever a value ends."""
    strings = [None, "", "-", "1:", "1:-", ",", "-,-", "0:,0:", "\u00e9", "e\u0301", '"', "{}"]
    numbers = [None, 0, -1, 1]
    rows = [(a, n, b, None if b is None else [b]) for a in strings for n in numbers for b in strings]
    frame = spark.createDataFrame(rows, "a string, n int, b string, notes array<string>")
    texts = frame.select(row_text(frame, frame.columns).alias("text")).toArrow()["text"].to_pylist()
    assert len({*texts}) == len(rows)
    other = frame.withColumnRenamed("n", "m")
    assert not {*texts} & {*other.select(row_text(other, other.columns).alias("text")).toArrow()["text"].to_pylist()}


def test_a_table_keeps_what_was_counted(folders):
    """From the run that changed it on, until another does; and what has not changed is not counted."""
    counted = []

    def publish(text: str, run: str, counts: dict | None) -> dict | None:
        place = folders.private_place("s", "t")
        place.mkdir(parents=True)
        (place / f"part-{os.urandom(8).hex()}.parquet").write_text(text)
        folders.publish("s", "t", run, count=lambda: counted.append(run) or counts)
        (table,) = folders.published("s")
        return table.changes

    one, two = {"rows_added": 1}, {"rows_added": 2}
    assert publish("rows", "first", one) == one
    assert publish("rows", "second", two) == one
    folders.keep("s", "t", "third")
    assert folders.published("s")[0].changes == one
    assert publish("other rows", "fourth", two) == two
    assert counted == ["first", "fourth"]
    assert publish("rows again", "fifth", None) is None
