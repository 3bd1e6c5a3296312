"""Adversarial inputs: deep, wide, dense, circular, colliding, malformed."""

import random

import numpy as np
import pyarrow as pa
import pytest

from dbt_tangles.algorithms.graph.ancestors import ancestor_pairs
from dbt_tangles.algorithms.graph.clocks import author_clocks
from dbt_tangles.algorithms.graph.orders import renumber
from dbt_tangles.columns import strings
from graph_oracle import DEFAULTS, answers_of, members_of, naive_walk, order, table_of, thread, walked


def shuffled(links: dict) -> list[dict]:
    rows = thread(links)
    random.Random(1).shuffle(rows)
    return rows


def test_chain_of_a_hundred_thousand():
    n = 100_000
    answers = answers_of(shuffled({f"{i}": [f"{i - 1}"] if i else None for i in range(n)}))
    assert [answers[f"{i}"]["depth"] for i in range(n)] == list(range(n))
    assert order(answers, "thread_position") == order(answers, "position") == [f"{i}" for i in range(n)]


def test_cycle_of_a_hundred_thousand():
    """One strong component, reached from all nodes, and a tail behind it."""
    n = 100_000
    links = {"root": None, "tail": ["0", "root"], "end": ["tail"]}
    links |= {f"{i}": [f"{(i + 1) % n}", "root"] for i in range(n)}
    answers = answers_of(shuffled(links))
    assert {answers[f"{i}"]["set_aside_reason"] for i in range(n)} == {"cycle"}
    assert answers["tail"]["set_aside_reason"] == answers["end"]["set_aside_reason"] == "previous_set_aside"
    assert order(answers, "position") == ["root"]


def test_only_the_first_causes_are_kept():
    links = {"root": None} | {f"{number:03}": [] for number in range(300)}
    links |= {"merge": [f"{number:03}" for number in range(299, 49, -1)], "next": ["merge", "007"]}
    answers = answers_of(thread(links))
    assert answers["merge"]["blocked_by"] == [f"{number:03}" for number in range(50, 150)]
    assert answers["next"]["blocked_by"] == ["007", *answers["merge"]["blocked_by"][:99]]


def test_a_long_chain_behind_a_missing_node():
    names = [f"{number:06}" for number in range(200_000)]
    links = {"root": None} | {name: [before] for before, name in zip(["gone", *names], names, strict=False)}
    found = walked(table_of(thread(links)))
    reasons = [answer["set_aside_reason"] for answer in found[1:]]
    assert reasons == ["missing_previous", *["previous_set_aside"] * (len(names) - 1)]
    assert {tuple(answer["blocked_by"]) for answer in found[1:]} == {("gone",)}
    assert [answer["missing_previous"] for answer in found] == [None, ["gone"], *([[]] * (len(names) - 1))]


def test_ten_thousand_previous():
    """A fan merged by one node, which lists each reply twice, and the root."""
    n = 10_000
    replies = [f"r{i}" for i in range(n)]
    answers = answers_of(shuffled({"A": None, "M": [*replies, "A", *replies]} | {r: ["A"] for r in replies}))
    assert answers["M"]["depth"] == 2
    assert answers["M"]["redundant_previous"] == ["A"]
    assert answers["A"]["child_count"] == n + 1
    assert answers["M"]["position"] == n + 1


def test_every_node_lists_all_before_it():
    """The densest history: only the edge to the previous node is needed."""
    n = 600
    answers = answers_of(shuffled({f"{i}": [f"{k}" for k in range(i)] or None for i in range(n)}))
    for i in range(1, n):
        assert answers[f"{i}"]["redundant_previous"] == [f"{k}" for k in range(i - 1)]


def test_redundancy_on_large_random_histories():
    """More doubtful targets than one word holds, near and far ones among them."""
    random_ = random.Random(3)
    for reach in (5, 60, 400):
        n = 400
        links: dict = {"0": None}
        for i in range(1, n):
            low = max(0, i - reach)
            links[f"{i}"] = [f"{random_.randrange(low, i)}" for _ in range(random_.choice([1, 1, 2, 3, 5]))]
        rows = [DEFAULTS | row for row in shuffled(links)]
        assert walked(table_of(rows)) == naive_walk(rows)


def test_clocks_are_left_out_above_a_product():
    """Three members and two authors are six rows at most."""
    columns = {"author": dict(zip("ABC", "xyx", strict=True)), "sequence": {"A": 1, "B": 1, "C": 2}}
    rows = thread({"A": None, "B": ["A"], "C": ["B"]}, **columns)
    table = members_of(rows, [{"depth": depth} for depth in range(3)])
    assert sum(map(len, author_clocks(table, 2, 6))) == 3
    least = table.set_column(table.column_names.index("sequence"), "sequence", pa.array([-(2**31), 1, 2], pa.int32()))
    assert sum(map(len, author_clocks(least, 2, 6))) == 3  # the least of all sequences is no gap
    assert sum(map(len, author_clocks(table, 2, 5))) == 0
    assert sum(map(len, author_clocks(table, 3, 6))) == 0


def test_colliding_hashes_change_nothing(monkeypatch):
    """Ids are compared by their bytes."""
    real = strings.hash_strings
    for module in ("dense_ids", "links"):
        name = f"dbt_tangles.columns.{module}.hash_strings"
        monkeypatch.setattr(name, lambda column, keys: real(column, keys) % np.uint64(4))
    rows = thread({f"{i}": ["0"] for i in range(70)})
    rows = [DEFAULTS | row | {"graph_id": f"{i % 7}", "is_root": i < 7} for i, row in enumerate(rows)]
    assert walked(table_of(rows)) == naive_walk(rows)


def test_repeated_rows_break_nothing():
    rows = thread({"A": None, "B": ["A"], "C": ["B"]})
    result = walked(table_of([*rows, *rows]))
    assert [out["depth"] for out in result] == [0, 1, 2, 0, 1, 2]
    assert sorted(out["position"] for out in result) == [0, 1, 2, 3, 4, 5]
    assert sorted(out["thread_position"] for out in result) == [0, 1, 2, 3, 4, 5]


def test_null_list_over_something():
    rows = table_of(thread({"A": None, "B": ["A"]}))
    lists = pa.ListArray.from_arrays(pa.array([0, 0, 1], pa.int32()), pa.array(["A"]), mask=pa.array([False, True]))
    rows = rows.set_column(rows.column_names.index("previous"), "previous", lists)
    assert [row["set_aside_reason"] for row in walked(rows)] == [None, "empty_previous"]


def test_wide_arrow_types():
    rows = table_of(thread({"A": None, "B": ["A"], "C": ["A", "B"]}))
    wide = {pa.string(): pa.large_string(), pa.list_(pa.string()): pa.large_list(pa.large_string())}
    schema = pa.schema([(field.name, wide.get(field.type, field.type)) for field in rows.schema])
    assert walked(rows.cast(schema)) == walked(rows)


def test_wrong_tables_are_refused():
    rows = thread({"A": None, "B": ["A"]})
    with pytest.raises(ValueError, match="node_id"):
        walked(table_of([rows[0] | {"node_id": None}]))
    for depths in ([0, 5], [1, 1]):
        with pytest.raises(ValueError, match="depth"):
            list(ancestor_pairs(members_of(rows, [{"depth": depth} for depth in depths])))
    with pytest.raises(OverflowError, match="partition"):
        strings.check_size(2**31)
    with pytest.raises(ValueError, match="earlier"):
        renumber(np.array([0, 2]), np.array([0, 1, 1]), np.array([1], np.int32), np.array([0, 1], np.int32))
