"""Rounds of a fixpoint: both stores give the same rows, and each limit stops the rounds with its own reason."""

import pytest

from dbt_spark_python.fixpoint.rounds import ROUNDS_AT_ONCE, Fixpoint, Names, Spec
from dbt_spark_python.fixpoint.stores import SessionStore, TableStore

NAMES = Names("<this>", "<all>", "<done>", "<number>", "<waiting>")
# Each number follows the one before it, and every tenth number also follows its half.
BASE = "select 0 as n, 0 as depth, 1 as met, true as is_settled from <waiting>edges limit 1"
STEP = """
    with met as (
        select n, depth, met from <this> where not is_settled
        union all
        select e.n, r.depth + 1, 1 as met from <waiting>edges as e join <this> as r on e.before = r.n where r.is_settled
    )
    select n, max(depth) as depth, cast(sum(met) as int) as met, sum(met) = if(n % 10 = 0, 2, 1) as is_settled
    from met group by n
"""
WAITING = "select e.* from <waiting>edges as e left anti join <done> as r on e.before = r.n"
LAST = 3 * ROUNDS_AT_ONCE
EDGES = [(n, before) for n in range(1, LAST + 1) for before in {n - 1, n // 2 if n % 10 == 0 else n - 1}]


@pytest.fixture(scope="module")
def edges(spark):
    spark.createDataFrame(EDGES, "n int, before int").createOrReplaceTempView("edges")
    yield spark
    spark.catalog.dropTempView("edges")


@pytest.fixture
def stores(edges):
    """A session's store, and a store of tables in the default schema that only runs statements."""
    rows = {"dropped": [], "made": []}

    def execute(sql: str) -> list:
        words = sql.split()
        if words[0] == "drop":
            if edges.catalog.tableExists(words[-1]):
                rows["dropped"].append(words[-1])
                edges.catalog.dropTempView(words[-1])
            return []
        if words[0] == "create":  # a view replaces the table, since the session has no place for tables
            rows["made"].append(words[2])
            frame = edges.sql(sql.partition(" as ")[2])
            edges.createDataFrame(frame.collect(), frame.schema).createOrReplaceTempView(words[2])
            return []
        return edges.sql(sql).collect()

    return {"session": SessionStore(edges, "fixpoint_test"), "tables": TableStore(execute, "model", "parquet")}, rows


def run(spark, store, **spec) -> tuple[dict, list[str]]:
    """Run the rounds; return the depths of the settled rows by number, and the logged lines."""
    lines: list[str] = []
    rounds = Fixpoint(store, [BASE, STEP, WAITING], NAMES, Spec(["n", "depth"], **spec), lines.append)
    found = {row["n"]: row["depth"] for row in spark.sql(rounds.run()).collect()}
    rounds.drop()
    return found, lines


@pytest.mark.parametrize("kind", ["session", "tables"])
@pytest.mark.parametrize("small_rows", [0, len(EDGES)])
def test_every_row_settles_in_its_round(edges, stores, monkeypatch, kind, small_rows):
    """With more rounds than are stored separately; with and without a single partition. All tables are dropped."""
    monkeypatch.setattr("dbt_spark_python.fixpoint.rounds.SMALL_ROWS", small_rows)
    found, lines = run(edges, stores[0][kind], rounds=LAST + 1)
    made = stores[1]["made"]
    assert set(made) <= set(stores[1]["dropped"]) and all(name.startswith("model__") for name in made)
    assert bool(made) == (kind == "tables")
    assert [table.name for table in edges.catalog.listTables() if table.name.startswith("fixpoint_test")] == []
    assert found == {n: n for n in range(LAST + 1)}
    assert lines[0] == "round 0: 1 rows settled"
    assert lines[10] == "round 10: 1 rows settled"
    assert lines[6] == "round 6: 1 rows settled, 1 wait"  # 10 waits for its half, which is settled
    assert lines[-2:] == [
        f"round {LAST + 1}: 0 rows settled",
        f"rounds end at round {LAST + 1}: no further row settles",
    ]
    assert stores[0][kind].is_small == (small_rows > 0)


@pytest.mark.parametrize("kind", ["session", "tables"])
@pytest.mark.parametrize("limit", [0, 4, LAST])
def test_a_limit_leaves_no_rows(edges, stores, kind, limit):
    found, lines = run(edges, stores[0][kind], rounds=limit)
    assert found == {}
    assert lines[-1] == f"rounds stop at round {limit}: rows still settle, so the result is empty"
    assert set(stores[1]["made"]) <= set(stores[1]["dropped"])


@pytest.mark.parametrize("kind", ["session", "tables"])
def test_a_query_in_place_of_a_table(edges, stores, kind):
    empty = "(select * from edges where false limit 0)"
    queries = [query.replace("<waiting>edges", f"<waiting>{empty}") for query in (BASE, STEP, WAITING)]
    lines: list[str] = []
    rounds = Fixpoint(stores[0][kind], queries, NAMES, Spec(["n", "depth"]), lines.append)
    assert edges.sql(rounds.run()).collect() == []
    rounds.drop()
    assert lines[-1] == "rounds end at round 0: no further row settles"
