"""Any sequence of runs gives the tables of a full computation, in a simulated warehouse."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_spark_python.incremental.plan import COMPLETE, VERSIONS, WORKING_SET
from simulated_runs import Rows, Simulation, graph, kind_of, node

# Orders of shops, and prices that orders name; a second kind of group, towns, to which shops belong.
NODES = graph(
    node("lines", "table", meta={"reads": {"paths": ["log"]}, "log": "somewhere"}),
    node("orders", "table", "lines"),
    node("names", "table", "lines"),
    node("shop_versions", VERSIONS, "orders"),
    node("changed_orders", WORKING_SET, "orders", "shop_versions", versions="shop_versions"),
    node("sums", COMPLETE, "changed_orders", versions="shop_versions"),
    node("named", WORKING_SET, "changed_orders", "names", versions="shop_versions"),
    node("named_sums", COMPLETE, "named", "sums", versions="shop_versions"),
    node("town_versions", VERSIONS, "sums"),
    node("town_sums", WORKING_SET, "sums", "town_versions", versions="town_versions"),
    node("towns", COMPLETE, "town_sums", versions="town_versions"),
    node("report", "table", "towns", "named_sums"),
)
NAMES = [each["name"] for each in NODES.values()]
SHOPS = "abcd"
#: Tables with the rows of one other table.
COPIES = {"lines": "log", "orders": "lines", "names": "lines", "changed_orders": "orders", "sums": "changed_orders"}


def _town(shop: str) -> str:
    return shop if shop.isupper() else "NS"[shop in "ab"]


def _with_code(rows: Mapping[str, str] | set, code: str) -> Rows:
    return frozenset((group, f"{value} {code}") for group, value in dict(rows).items())


def compute(name: str, code: str, inputs: Mapping[str, Rows]) -> Rows:
    """The rows of a table. Each row contains the table's code, so that every code change is visible."""
    read = {each: dict(rows) for each, rows in inputs.items()}
    if name == "shop_versions":
        return inputs["orders"]
    if name == "town_versions":
        return frozenset((_town(shop), f"{shop} {value}") for shop, value in inputs["sums"])
    if name in COPIES:
        return _with_code(read[COPIES[name]], f"{name} {code}")
    if name == "named":
        orders, names = read["changed_orders"], read["names"]
        return _with_code({shop: f"{value} {names.get(shop)}" for shop, value in orders.items()}, code)
    if name == "named_sums":
        return _with_code({shop: f"{value} {read['sums'].get(shop)}" for shop, value in read["named"].items()}, code)
    if name == "town_sums":
        return frozenset((_town(shop), f"{shop} {value} {code}") for shop, value in inputs["sums"])
    if name == "towns":
        return frozenset((town, f"{value} {code}") for town, value in inputs["town_sums"])
    return _with_code({f"{town} {value}": "" for town, value in inputs["towns"]}, code)


# A part of the graph, or all tables but one.
PARTS = st.one_of(
    st.tuples(st.integers(0, len(NAMES) - 1), st.integers(1, 6)).map(lambda at: frozenset(NAMES[at[0] : sum(at)])),
    st.sampled_from(NAMES).map(lambda name: frozenset(NAMES) - {name}),
    st.frozensets(st.sampled_from(NAMES), min_size=1),
)
CHANGES = st.one_of(
    st.tuples(st.just("order"), st.sampled_from(SHOPS), st.sampled_from("xy")),
    st.tuples(st.just("order"), st.sampled_from(SHOPS), st.sampled_from("xy")),
    st.tuples(st.just("close"), st.sampled_from(SHOPS)),
    st.tuples(st.just("edit"), st.sampled_from(NAMES), st.sampled_from("01")),
    st.tuples(st.just("drop"), st.sampled_from(NAMES)),
)
RUNS = st.tuples(
    st.lists(CHANGES, min_size=1, max_size=3),
    st.one_of(st.just(frozenset(NAMES)), PARTS, PARTS),
    st.sampled_from([frozenset(), frozenset(), *(frozenset([name]) for name in NAMES)]),
    st.sampled_from([False, False, False, True]),
)


def change(simulation: Simulation, kind: str, *what: str) -> None:
    if kind == "order":
        simulation.log = frozenset({*(row for row in simulation.log if row[0] != what[0]), what})
    elif kind == "close":
        simulation.log = frozenset(row for row in simulation.log if row[0] != what[0])
    elif kind == "edit":
        simulation.definitions.codes[f"model.shop.{what[0]}"] = what[1]
    else:
        simulation.drop(*what)


def check_runs(runs):
    """Make these runs, and compare the tables after each full one."""
    simulation = Simulation(NODES, compute)
    simulation.log = frozenset((shop, "x") for shop in SHOPS)
    simulation.run({*NAMES})
    for changes, *run in runs:
        for each in changes:
            change(simulation, *each)
        simulation.run(*run)
        if run[:2] == [frozenset(NAMES), frozenset()]:
            check(simulation)
    simulation.run({*NAMES})
    check(simulation)
    assert set(simulation.run({*NAMES}).values()) == {"reuse"}


@pytest.mark.parametrize("examples", [40, pytest.param(400, marks=pytest.mark.long)])
def test_any_runs_end_in_the_tables_of_a_full_computation(examples):
    any_runs = given(st.lists(RUNS, min_size=3, max_size=12))(check_runs)
    settings(max_examples=examples, deadline=None)(any_runs)()


def check(simulation: Simulation) -> None:
    assert simulation.refused == {}
    full = simulation.full()
    for name in NAMES:
        if kind_of(simulation.nodes[f"model.shop.{name}"]) != WORKING_SET:
            assert simulation.rows(name) == full.rows(name), name
