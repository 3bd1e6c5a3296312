"""The kernels compared with naive algorithms: on random graphs, and on every small graph."""

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph import DEPTH_SCHEMA, ancestor_pairs, author_clocks, walk_graphs
from graph_logs import known_rows, logs
from graph_oracle import DEFAULTS, listed, naive_clocks, naive_pairs, naive_walk, table_of, walked


def in_pieces(rows: list[dict], seed: int) -> pa.Table:
    """Make a table whose columns have chunks of different sizes, some of them slices of longer arrays."""
    table = table_of(rows)
    random_ = random.Random(seed)
    columns = []
    for column in table.columns:
        cuts = sorted(random_.randrange(len(rows) + 1) for _ in range(2))
        ends = zip([0, *cuts], [*cuts, len(rows)], strict=True)
        parts = [column.slice(at, end - at).combine_chunks() for at, end in ends]
        whole = column.combine_chunks()
        parts = [whole.slice(0, len(parts[0])), *parts[1:]]
        columns.append(pa.chunked_array(parts, type=column.type))
    return pa.table(columns, names=table.column_names)


@given(logs(), st.booleans(), st.integers(0, 99))
def test_walk_equals_the_naive_answer(rows, strict, seed):
    """For any rows, in any order and any chunks."""
    assert walked(in_pieces(rows, seed), strict) == naive_walk(rows, strict)


@given(logs(), st.booleans(), st.data())
def test_given_depths_are_checked(rows, strict, data):
    """All depths of some graphs change nothing; a wrong, missing or additional depth is an error."""
    answers = naive_walk(rows, strict)
    members = known_rows(rows, answers)
    graphs = data.draw(st.sets(st.sampled_from([row["graph_id"] for row in members] or [""])))
    known = [row for row in members if row["graph_id"] in graphs]
    assert walked(table_of(rows), strict, depths_of(known)) == answers
    others = [row | {"depth": -1} for row, answer in zip(rows, answers, strict=True) if answer["depth"] is None]
    others = [row for row in others if (row["graph_kind"], row["graph_id"]) in {graph_of(other) for other in known}]
    others.append({"graph_kind": "t", "graph_id": "A", "node_id": "nobody at all", "depth": -1})
    at = data.draw(st.sampled_from([*known, *others]))
    wrong = data.draw(st.sampled_from([depth for depth in (0, 1, 2, 3, 2**31 - 1) if depth != at["depth"]]))
    if at["depth"] < 0:
        known.append(at | {"depth": wrong})
    else:
        known[known.index(at)] = at | {"depth": wrong}
    with pytest.raises(ValueError, match="given depth"):
        walk_graphs(table_of(rows), strict, depths_of(known))


def graph_of(row: dict) -> tuple:
    return row["graph_kind"], row["graph_id"]


def depths_of(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist([{name: row[name] for name in DEPTH_SCHEMA.names} for row in rows], DEPTH_SCHEMA)


@given(
    logs(),
    st.booleans(),
    st.integers(0, 9),
    st.sampled_from([1, 2, 7, 1000]),
    st.sampled_from([1, 40, 10**6]),
)
def test_ancestors_and_clocks_equal_the_naive_answer(rows, strict, limit, chunk_rows, memory):
    """In batches of any size, clocks in blocks of any size: each row once."""
    answers = naive_walk(rows, strict)
    table = table_of(rows)
    table = table.append_column("depth", pa.array([answer["depth"] for answer in answers], pa.int32()))
    pairs = listed(ancestor_pairs(table, limit, chunk_rows), chunk_rows)
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == set(naive_pairs(rows, answers, limit))
    clocks = listed(author_clocks(table, limit, 20, chunk_rows, memory), chunk_rows)
    assert len(clocks) == len(set(clocks))
    assert set(clocks) == set(naive_clocks(rows, answers, limit, 20))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("has_root", "most"), [(True, 2), pytest.param(True, 3, marks=pytest.mark.long), (False, 2)])
def test_every_graph_of_up_to_three_nodes(strict, has_root, most):
    """Each node lists any subset of the root, the nodes (itself too) and a missing one."""
    rows = []
    for size in range(1, most + 1):
        nodes = [f"n{i}" for i in range(size)]
        targets = ["A", *nodes, "nobody"]
        subsets = [[t for i, t in enumerate(targets) if bits >> i & 1] for bits in range(2 ** len(targets))]
        for lists in itertools.product(subsets, repeat=size):
            graph = {"graph_kind": str(size), "graph_id": str(len(rows))}
            if has_root:
                rows.append(DEFAULTS | graph | {"node_id": "A", "is_root": True})
            rows += [
                DEFAULTS | graph | {"node_id": id_, "previous": previous}
                for id_, previous in zip(nodes, lists, strict=True)
            ]
    expected = naive_walk(rows, strict)
    shuffled = list(range(len(rows)))
    random.Random(7).shuffle(shuffled)
    answers = walked(table_of([rows[i] for i in shuffled]), strict)
    assert answers == [expected[i] for i in shuffled]
