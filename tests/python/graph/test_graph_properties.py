"""The kernels compared with naive algorithms: on random graphs, and on every small graph."""

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph.ancestors import ancestor_pairs
from dbt_tangles.algorithms.graph.clocks import author_clocks
from graph_logs import graph_of, known_rows, logs
from graph_oracle import DEFAULTS, listed, members_of, naive_clocks, naive_pairs, naive_walk, table_of, walked


def in_pieces(rows: list[dict], seed: int) -> pa.Table:
    """Make a table whose columns have chunks of different sizes, which are slices of longer arrays."""
    table = table_of(rows)
    random_ = random.Random(seed)
    columns = []
    for column in table.columns:
        cuts = sorted(random_.randrange(len(rows) + 1) for _ in range(2))
        whole = column.combine_chunks()
        parts = [whole.slice(at, end - at) for at, end in itertools.pairwise([0, *cuts, len(rows)])]
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
    graphs = data.draw(st.sets(st.sampled_from([graph_of(row) for row in members] or [()])))
    known = [row for row in members if graph_of(row) in graphs]
    assert walked(table_of(rows + known), strict) == answers
    others = [row | {"known_depth": -1} for row, answer in zip(rows, answers, strict=True) if answer["depth"] is None]
    others = [row for row in others if graph_of(row) in {graph_of(other) for other in known}]
    others.append({"graph_kind": "t", "graph_id": "A", "node_id": "nobody at all", "known_depth": -1})
    at = data.draw(st.sampled_from([*known, *others]))
    wrong = data.draw(st.sampled_from([depth for depth in (0, 1, 2, 3, 2**31 - 1) if depth != at["known_depth"]]))
    if at["known_depth"] < 0:
        known.append(at | {"known_depth": wrong})
    else:
        known[known.index(at)] = at | {"known_depth": wrong}
    with pytest.raises(ValueError, match="given depth"):
        walked(table_of(rows + known), strict)


@given(logs(), st.booleans(), st.integers(0, 9), st.sampled_from([1, 2, 7, 10**6]), st.sampled_from([1, 5, 10**6]))
def test_ancestors_and_clocks_equal_the_naive_answer(rows, strict, limit, most_pairs, most_entries):
    """In searches of any size, clocks in blocks of any size: each row once."""
    answers = naive_walk(rows, strict)
    members = members_of(rows, answers)
    pairs = listed(ancestor_pairs(members, most_pairs, group_limit=limit))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == set(naive_pairs(rows, answers, limit))
    clocks = listed(author_clocks(members, limit, 20, most_entries))
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
