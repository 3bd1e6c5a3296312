"""Rounds of a fixpoint: each limit stops the rounds with its own reason."""

import pytest

from dbt_spark_python import fixpoint
from dbt_spark_python.fixpoint import ROUNDS_AT_ONCE, Fixpoint, Spec

# Each number follows the one before it, and every tenth number also follows its half.
BASE = "select 0 as n, 0 as depth, 1 as met, true as is_settled from __fixpoint_waiting__edges limit 1"
STEP = """
    with met as (
        select n, depth, met from __fixpoint_this_round__ where not is_settled
        union all
        select e.n, r.depth + 1, 1 as met
        from __fixpoint_waiting__edges as e join __fixpoint_this_round__ as r on e.before = r.n where r.is_settled
    )
    select n, max(depth) as depth, cast(sum(met) as int) as met, sum(met) = if(n % 10 = 0, 2, 1) as is_settled
    from met group by n
"""
WAITING = """
    select e.* from __fixpoint_waiting__edges as e left anti join __fixpoint_done_rounds__ as r on e.before = r.n
"""
LAST = 3 * ROUNDS_AT_ONCE
EDGES = [(n, before) for n in range(1, LAST + 1) for before in {n - 1, n // 2 if n % 10 == 0 else n - 1}]


@pytest.fixture(scope="module")
def edges(spark):
    spark.createDataFrame(EDGES, "n int, before int").createOrReplaceTempView("edges")
    yield spark
    spark.catalog.dropTempView("edges")


def run(spark, queries=(BASE, STEP, WAITING), **spec) -> tuple[dict, list[str]]:
    """Run the rounds; return the depths of the settled rows by number, and the logged lines."""
    lines: list[str] = []
    rounds = Fixpoint(spark, queries, Spec(["n", "depth"], **spec), "fixpoint_test", lines.append)
    found = {row["n"]: row["depth"] for row in spark.sql(rounds.run()).collect()}
    rounds.drop()
    assert [table.name for table in spark.catalog.listTables() if table.name.startswith("fixpoint_test")] == []
    return found, lines


@pytest.mark.parametrize("small_rows", [0, len(EDGES)])
def test_every_row_settles_in_its_round(edges, monkeypatch, small_rows):
    """With more rounds than are stored separately; with and without a single partition. All views are dropped."""
    monkeypatch.setattr(fixpoint, "SMALL_ROWS", small_rows)
    found, lines = run(edges, rounds=LAST + 1)
    assert found == {n: n for n in range(LAST + 1)}
    assert lines[0] == "round 0: 1 rows settled"
    assert lines[10] == "round 10: 1 rows settled"
    assert lines[6] == "round 6: 1 rows settled, 1 wait"  # 10 waits for its half, which is settled
    assert lines[-2:] == [
        f"round {LAST + 1}: 0 rows settled",
        f"rounds end at round {LAST + 1}: no further row settles",
    ]


@pytest.mark.parametrize("limit", [0, 4, LAST])
def test_a_limit_leaves_no_rows(edges, limit):
    found, lines = run(edges, rounds=limit)
    assert found == {}
    assert lines[-1] == f"rounds stop at round {limit}: rows still settle, so the result is empty"


def test_a_query_in_place_of_a_table(edges):
    empty = "__fixpoint_waiting__(select * from edges where false limit 0)"
    found, lines = run(edges, [query.replace("__fixpoint_waiting__edges", empty) for query in (BASE, STEP, WAITING)])
    assert found == {}
    assert lines[-1] == "rounds end at round 0: no further row settles"
