"""Tests that passed: whether they run again, and over which rows."""

import json

import pytest

from dbt_spark_python.incremental.passes import PassedTests, is_repeatable
from dbt_spark_python.incremental.plan import COMPLETE, REBUILD, REPLACE, REUSE, VERSIONS, Planner
from simulated_runs import Parts, graph, node

TEST = {
    "name": "checks",
    "unique_id": "test.shop.checks",
    "schema": "shop",
    "resource_type": "test",
    "attached_node": "model.shop.sums",
    "config": {},
    "depends_on": {"nodes": ["model.shop.sums"]},
}
DEFINITION = {"code": "1"}
QUERY = "select * from `shop`.`sums` where total <= 0"


class Shop:
    """A warehouse with one complete table, a test of it, and its table of versions."""

    def __init__(self, folders) -> None:
        versions, sums = node("versions", VERSIONS), node("sums", COMPLETE, "versions", versions="versions")
        self.nodes = graph(versions, sums, node("towns", "table")) | {TEST["unique_id"]: dict(TEST)}
        self.warehouse, self.manifests = folders, {}
        self.build(1, "one")
        self.manifests["model.shop.towns"] = {"content": "towns"}

    def build(self, upto: int, content: str, history: str = "h 0") -> None:
        """Build the tables."""
        groups = {"history": history, "since": 0, "upto": upto}
        self.manifests |= {
            "model.shop.versions": {"groups": groups},
            "model.shop.sums": {"groups": groups, "content": content},
        }

    def plan(self, definition=DEFINITION, full_refresh=False, **more):
        """Plan the test after changing its inputs."""
        test = self.nodes[TEST["unique_id"]] = TEST | more
        planner = Planner(
            self.nodes, Parts(self.nodes), lambda each: self.manifests.get(each["unique_id"], {}), set(), str
        )
        self.passed = PassedTests(self.warehouse)
        return self.passed.plan(planner, test, definition, full_refresh)

    def passes(self, **more) -> None:
        """Record that the test passed."""
        plan = self.plan(**more)
        self.passed.record(TEST["schema"], TEST["unique_id"], DEFINITION, plan, QUERY)

    def has_query(self, query: str) -> bool:
        """Whether the test passed with a query."""
        self.plan()
        return self.passed.has_query(TEST["unique_id"], query)


@pytest.fixture
def shop(folders):
    return Shop(folders)


def test_a_test_looks_at_the_groups_that_changed_since_it_passed(shop):
    assert shop.plan() == (REBUILD, 0, 1, "h 0", {"model.shop.sums": "one"}, "")
    shop.passes()
    assert shop.plan().action == REUSE
    assert shop.plan(full_refresh=True).action == REBUILD
    assert shop.warehouse.published() == []
    shop.build(2, "two")
    shop.build(5, "five")
    assert shop.plan()[:3] == (REPLACE, 1, 5)
    shop.passes()
    assert shop.plan().action == REUSE
    shop.build(6, "six")
    assert shop.plan()[:3] == (REPLACE, 5, 6)
    assert shop.plan(definition={"code": "2"})[:3] == (REBUILD, 0, 6)


def test_it_passed_with_one_query(shop):
    """A query over changed groups does not take the place of that over all rows."""
    assert not shop.has_query(QUERY)
    shop.passes()
    shop.build(2, "two")
    assert shop.plan().action == REPLACE
    shop.passes()
    assert shop.has_query(QUERY) and not shop.has_query(f"{QUERY} and at < '2026-11-30'")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (QUERY, True),
        ("with sums as (select 1) select * from sums join Shop.Sums", True),
        ("select 'now()', `today` -- as of now\nfrom shop.sums /* rand() */ where concurrent_count > 0", True),
        *(
            (f"select * from shop.sums where at < {time}", False)
            for time in ("NOW()", "current_date", "current_timestamp()")
        ),
        ("select * from shop.sums where rand() < 1", False),
        ("select * from shop.sums join `shop`.other using (id)", False),
        ("select * from shop.sums, (select * from\n  other.sums)", False),
    ],
)
def test_queries_that_have_the_same_result_again(query, expected):
    assert is_repeatable(query, ["`shop`.`sums`"]) is expected


def test_a_history_that_began_anew(shop):
    """Also if only the versions began anew, which then cannot tell which groups of the table changed."""
    shop.passes()
    shop.build(2, "two", "other 0")
    assert shop.plan().action == REBUILD
    shop.build(2, "two")
    shop.manifests["model.shop.versions"] = {"groups": {"history": "other 0", "since": 0, "upto": 1}}
    assert shop.plan().action == REBUILD


@pytest.mark.parametrize(
    "more",
    [
        {"depends_on": {"nodes": ["model.shop.sums", "model.shop.towns"]}},
        *({"attached_node": attached} for attached in (None, "", "model.shop.towns", "model.shop.gone")),
    ],
)
def test_a_test_of_several_tables_or_of_another_table_runs_on_all_rows(shop, more):
    shop.passes(**more)
    assert shop.plan(**more).action == REUSE
    shop.build(2, "two")
    assert shop.plan(**more).action == REBUILD


def test_unknown_inputs_are_not_recorded(shop):
    outside = {"nodes": ["source.shop.outside"]}
    shop.passes(depends_on=outside)
    plan = shop.plan(depends_on=outside)
    assert (plan.action, plan.inputs) == (REBUILD, None)
    assert not (shop.warehouse.root / ".passed").exists()


def test_a_record_that_cannot_be_read_or_written(shop):
    shop.passes()
    (place,) = (shop.warehouse.root / ".passed").iterdir()
    noted = json.loads(place.read_text())
    for text in ("", "{", "[]", "{}", json.dumps({"definition": "1", "groups": None})):
        place.write_text(text)
        assert shop.plan().action == REBUILD
    place.write_text(json.dumps(noted | {"groups": None}))
    assert shop.plan().action == REUSE
    shop.build(2, "two")
    assert shop.plan().action == REBUILD
    place.unlink()
    place.parent.rmdir()
    place.parent.write_text("a file in its place")
    shop.passes()
    assert shop.plan().action == REBUILD
