"""Quorums of every degree: the design document's examples, and many writers."""

import time

import numpy as np
import pytest

from autobase_oracle import Base
from base_results import results
from base_tables import chain_table, drawing, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase.base_graphs import first_followers, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.quorums import quorums
from large_bases import in_rounds, in_turns, large_base
from rule_search import name


def shown(base: Base, x: str) -> list[str]:
    """Return the quorums over a node in the notation of the document."""
    key = {node_id(i): name(i) for i in base.nodes}
    letters = {k.hex(): k.decode() for k in base.indexers}
    rows = results(table_of(rows_of("b", base)), max_degree=9)["quorum"]
    return [
        f"{degree} at {key[at]}: {' '.join(map(letters.get, writers))}"
        for _, i, degree, at, writers in rows
        if key[i] == x
    ]


# Nodes count from 0 in the document, and from 1 here.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "a1 b1:a1 c1:b1 a2:c1",
            {
                "a1": ["1 at b1: a b", "2 at c1: b c", "3 at a2: a c"],
                "b1": ["1 at c1: b c", "2 at a2: a c"],
                "c1": ["1 at a2: a c"],
                "a2": [],
            },
        ),
        ("a1 c1 c2:a1 b1:c1", {"a1": ["1 at c2: a c"], "c1": ["1 at b1: b c"]}),
        ("c1 b1:c1 c2:b1", {"c1": ["1 at b1: b c", "2 at c2: b c"], "b1": ["1 at c2: b c"]}),
        ("a1 c1:a1 a2:c1", {"a1": ["1 at c1: a c", "2 at a2: a c"]}),
        ("a1 b1 c1:a1 a2:c1 c2:b1 b2:c2", {"b1": ["1 at c2: b c", "2 at b2: b c"]}),
    ],
    ids=["quorums", "condition for consistency", "higher quorums", "ours", "consistent ordering"],
)
def test_examples_of_the_document(words, expected):
    base = drawing("abc", words)
    assert {x: shown(base, x) for x in expected} == expected


def counted(graphs) -> tuple[int, float]:
    """Return the number of quorums and the CPU seconds."""
    count = len(graphs.base_start) - 1
    bases = with_clocks(index_graphs(graphs), 0, count)
    begin = time.process_time()
    found = sum(len(each.node) for each in quorums(bases, first_followers(bases), 3))
    return found, time.process_time() - begin


@pytest.mark.parametrize(
    ("power", "rows"),
    # A node of a round follows the whole round before, so the edges alone grow with the square of the writers.
    [(2.2, lambda writers: in_turns(writers, 10 * writers)), (2.9, lambda writers: in_rounds(writers, 10))],
    ids=["turns", "rounds"],
)
def test_how_time_grows_with_the_writers(power, rows):
    counted(large_base(75, 75, rows(75)))
    sizes = (75, 300)
    found, seconds = zip(*(counted(large_base(n, n, rows(n))) for n in sizes), strict=True)
    assert min(found) > 0
    assert np.log(seconds[1] / seconds[0]) / np.log(sizes[1] / sizes[0]) < power
    assert seconds[1] < 10


def test_200_indexers_among_2_000_writers():
    begin = time.process_time()
    assert results(chain_table("b", 2_000, 5_000, 200), 1)["quorum"]
    assert time.process_time() - begin < 20
