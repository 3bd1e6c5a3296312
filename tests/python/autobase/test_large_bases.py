"""Large bases are ordered, and all results found, in good time; `test_results.py` compares results with oracles."""

import random
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from base_arrays import arrays_of, ordered
from base_results import COLUMNS, NO_LIMIT, results
from base_tables import rows_of, simulate, table_of
from cpu_time import within
from dbt_tangles.algorithms.autobase.base_graphs import Graphs, first_followers, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.quorums import quorums
from dbt_tangles.algorithms.autobase.results import results_of_bases
from large_bases import Turns, in_rounds, in_turns, large_base, large_table


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile the kernels before time is measured."""
    for rule in ("autobase", "design"):
        results(table_of(rows_of("b", simulate(random.Random(8), 3))), rule=rule)


def graphs_of(writers: int, turns: Turns) -> Graphs:
    return arrays_of([large_base(writers, turns)])[0]


def confirmed_length(graphs: Graphs, rule: str = "autobase") -> int:
    _, view_start, _, confirmed = ordered(graphs, rule)
    assert rule == "autobase" or view_start[-1] == graphs.base_start[-1]
    return int(confirmed[0])


def acked_forks(rounds: int) -> Turns:
    """The second writer follows the first, the third always writes beside both."""
    turns = []
    for at in range(0, 3 * rounds, 3):
        turns += [(0, [at - 2, at - 1] if at else []), (1, [at]), (2, [at - 3] if at else [])]
    return turns


def healed(writers: int, turns: Turns) -> Turns:
    """Add turns in which all writers agree."""
    followed = {p for _, heads in turns for p in heads}
    loose = [turn for turn in range(len(turns)) if turn not in followed]
    return turns + [(0, loose)] + [(turn % writers, [len(turns) + turn - 1]) for turn in range(1, 4 * writers)]


@pytest.mark.parametrize(
    ("writers", "turns"),
    [
        (3, in_rounds(3, 3_400)),
        (9, in_rounds(9, 1_200)),
        (9, in_rounds(9, 2_500, online=4)),
        (9, in_turns(4, 10_000)),
        (3, acked_forks(3_400)),
        (200, in_rounds(200, 50)),
    ],
    ids=["three", "nine", "a minority", "a minority in turns", "acked", "many"],
)
def test_forks_without_end_and_their_end(writers, turns):
    forked, more = graphs_of(writers, turns), healed(writers, turns)
    with within(5):
        assert confirmed_length(forked) == 0
    healing = graphs_of(writers, more)
    with within(5):
        assert len(turns) < confirmed_length(healing) < len(more)


@pytest.mark.parametrize(
    ("writers", "turns", "expected"),
    [
        (9, in_rounds(9, 166), 0),
        (9, in_rounds(9, 300, online=5), 0),
        *((writers, in_turns(writers, 2_000), 2_000 - 2 * (writers // 2)) for writers in (1, 3, 9)),
    ],
    ids=["wide", "a wide majority", "chain of one", "chain of three", "chain of nine"],
)
def test_the_documents_rule(writers, turns, expected):
    graphs = graphs_of(writers, turns)
    with within(4):
        assert confirmed_length(graphs, "design") == expected


def seconds_of_quorums(graphs: Graphs) -> float:
    bases = with_clocks(index_graphs(graphs), 0, len(graphs.base_start) - 1)
    begin = time.process_time()
    assert sum(len(each.node) for each in quorums(bases, first_followers(bases), 3)) > 0
    return time.process_time() - begin


@pytest.mark.parametrize(
    ("power", "turns"),
    # A node of a round follows the whole round before, so the edges alone grow with the square of the writers.
    [(2.2, lambda writers: in_turns(writers, 10 * writers)), (2.9, lambda writers: in_rounds(writers, 10))],
    ids=["turns", "rounds"],
)
def test_how_time_grows_with_the_writers(power, turns):
    few, many = 75, 300
    seconds_of_quorums(graphs_of(few, turns(few)))
    less, more = (seconds_of_quorums(graphs_of(count, turns(count))) for count in (few, many))
    assert np.log(more / less) / np.log(many / few) < power
    assert more < 10


def changes_of(table: pa.Table) -> list[tuple]:
    return results(table, columns={"change": COLUMNS["change"]})["change"]


def test_changes_of_a_chain_of_20_000():
    table = large_table("b", 5, in_turns(5, 20_000))
    with within(15):
        found = changes_of(table)
    assert len(found) > 19_000
    assert not any(row[5] for row in found)


def test_changes_of_endless_forks():
    """The views are rebased and never settle."""
    table = large_table("b", 5, in_rounds(5, 1_000))
    with within(15):
        found = changes_of(table)
    # Each round goes behind the one before; only nodes of lesser keys come before the writer's own node.
    assert sum(row[5] for row in found) > 0
    assert not any(row[-1] for row in found)


def counted(table: pa.Table, row_limit: int) -> Counter[str]:
    """Return the number of rows of each kind, and of the confirmed ones."""
    found = Counter()
    for batch in results_of_bases(table, row_limit, 3):
        kind = batch["row_kind"][0].as_py()
        found[kind] += batch.num_rows
        if kind == "view":
            found["confirmed"] += batch["is_confirmed"].true_count
    return found


def test_200_indexers_among_2_000_writers():
    table = large_table("b", 2_000, in_turns(2_000, 5_000), 200)
    with within(20):
        found = counted(table, 1)
    assert found["quorum"]


@pytest.mark.long
def test_a_chain_of_200_000():
    table = large_table("b", 9, in_turns(9, 200_000))
    with within(20):
        found = counted(table, 100_000)
    assert (found["view"], found["confirmed"]) == (200_000, 200_000 - 8)
    assert found["quorum"] == sum(200_000 - 4 * degree for degree in (1, 2, 3))


@pytest.mark.long
def test_10_000_bases():
    rng = random.Random(9)
    drawn = [rows_of("", simulate(rng, 3, 1, 0, 27)) for _ in range(100)]
    table = table_of([{**row, "base_id": f"base {at}"} for at in range(10_000) for row in drawn[at % 100]])
    assert len(table) > 150_000
    with within(240):
        found = counted(table, 10_000)
    assert 0 < found["confirmed"] < found["view"]


@pytest.mark.long
def test_200_writers_in_a_random_chain():
    """Each of 201 observers sees nearly all nodes; each confirmation is a question about 200 indexers."""
    table = large_table("b", 200, in_turns(200, 4_000, random.Random(1)))
    with within(240):
        found = counted(table, NO_LIMIT)
    assert (found["view"], found["confirmed"]) == (762_956, 704_240)
    assert found["change"] > 3_000
