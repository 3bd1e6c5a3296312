"""The kernels compared with naive algorithms: on random graphs, and on every small graph."""

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph import DEPTH_SCHEMA, ancestor_pairs, author_clocks, walk_graphs
from graph_logs import known_rows, logs
from graph_oracle import DEFAULTS, listed, naive_clocks, naive_pairs, naive_walk, table_of


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
    assert walk_graphs(in_pieces(rows, seed), strict).to_pylist() == naive_walk(rows, strict)


@given(logs(), st.booleans(), st.data())
def test_the_walk_goes_on_from_known_depths(rows, strict, data):
    """With known depths of any members, those up to a depth or any others, the result is the same."""
    answers = naive_walk(rows, strict)
    members = known_rows(rows, answers)
    prefix = data.draw(st.booleans())
    reach = data.draw(st.integers(-1, 5))
    known = [row for row in members if (row["depth"] <= reach if prefix else data.draw(st.booleans()))]
    assert walk_graphs(table_of(rows), strict, depths_of(known)).to_pylist() == answers


@given(logs(), st.booleans(), st.data())
def test_known_depths_are_checked(rows, strict, data):
    """A single known depth is an error if it is wrong, or if its node is not a member or not in the graph."""
    answers = naive_walk(rows, strict)
    known = known_rows(rows, answers)
    others = [row | {"depth": -1} for row, answer in zip(rows, answers, strict=True) if answer["depth"] is None]
    others = [row for row in others if None not in (row["graph_kind"], row["graph_id"])]
    others.append({"graph_kind": "t", "graph_id": "A", "node_id": "nobody at all", "depth": -1})
    at = data.draw(st.sampled_from([*known, *others]))
    wrong = data.draw(st.sampled_from([depth for depth in (-1, 0, 1, 2, 3, 2**31 - 1) if depth != at["depth"]]))
    if at["depth"] < 0:
        known.append(at | {"depth": wrong})
    else:
        known[known.index(at)] = at | {"depth": wrong}
    with pytest.raises(ValueError, match="known depth"):
        walk_graphs(table_of(rows), strict, depths_of(known))


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
    for name, kind in (("author", pa.string()), ("sequence", pa.int32())):
        table = table.append_column(name, pa.array([row[name] for row in rows], kind))
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
    answers = walk_graphs(table_of([rows[i] for i in shuffled]), strict).to_pylist()
    assert answers == [expected[i] for i in shuffled]
