"""The plan of one table, on small graphs without dbt and without an engine."""

import pytest

from dbt_spark_python.incremental.plan import (
    COMPLETE,
    REBUILD,
    REPLACE,
    REUSE,
    VERSIONS,
    WORKING_SET,
    Plan,
    PlanError,
    Planner,
)
from simulated_runs import Parts, graph, node

LOG = {"reads": {"paths": ["log"]}, "log": "/somewhere"}
NODES = [
    node("lines", VERSIONS, meta=LOG),
    node("orders", "table", "lines"),
    node("names", "table", "lines"),
    node("versions", VERSIONS, "orders"),
    node("changed", WORKING_SET, "orders", "versions", versions="versions"),
    node("rounds", "fixpoint", "changed", versions="versions"),
    node("sums", COMPLETE, "rounds", "names", versions="versions"),
    node("counts", COMPLETE, "changed", "sums", versions="versions"),
    node("town_versions", VERSIONS, "sums"),
    node("towns", COMPLETE, "sums", "town_versions", versions="town_versions"),
]


def groups(upto: int, since: int = 0, history: str = "h 0") -> dict:
    """The group versions in a manifest."""
    return {"history": history, "since": since, "upto": upto}


class Stand:
    """The tables of a graph, all built and in one state: group version 5, towns 2."""

    def __init__(self, *more: dict) -> None:
        self.nodes = graph(*NODES, *more)
        self.parts, self.selected, self.logs = Parts(self.nodes), set(self.nodes), {"/somewhere": "log 1"}
        self.manifests = {}
        for node_id, each in self.nodes.items():
            inputs = {parent: f"{parent} 1" for parent in each["depends_on"]["nodes"]}
            has_groups = each["config"]["materialized"] in (COMPLETE, WORKING_SET, "fixpoint")
            inputs |= {"log": "log 1"} if each["name"] == "lines" else {}
            self.manifests[node_id] = {
                "definition": self.parts.of(node_id),
                "inputs": None if has_groups else inputs,
                "content": f"{node_id} 1",
            }
        for name in ("versions", "changed", "rounds", "sums", "counts"):
            self.of(name)["groups"] = groups(5)
        self.of("lines")["groups"] = groups(3, history="l 1")
        for name in ("town_versions", "towns"):
            self.of(name)["groups"] = groups(2, history="t 0")

    def of(self, name: str) -> dict:
        """The manifest of a table."""
        return self.manifests[f"model.shop.{name}"]

    def lose(self, *names: str) -> "Stand":
        """Delete tables."""
        for name in names:
            del self.manifests[f"model.shop.{name}"]
        return self

    def edit(self, *names: str) -> "Stand":
        """Change the code of nodes."""
        self.parts.codes |= {f"model.shop.{name}": "other" for name in names}
        return self

    def planner(self) -> Planner:
        """Return a planner for the current state."""
        return Planner(
            self.nodes,
            self.parts,
            lambda each: self.manifests.get(each["unique_id"], {}),
            self.selected,
            lambda path, name: self.logs.get(path),
        )

    def plan(self, name: str, full_refresh: bool = False) -> Plan:
        """The plan of one table."""
        return self.planner().plan(f"model.shop.{name}", full_refresh)


def versions_go_on(stand: Stand, upto: int = 6) -> Stand:
    """Change orders, and their versions accordingly."""
    stand.of("orders")["content"] = stand.of("versions")["inputs"]["model.shop.orders"] = "orders 2"
    stand.of("versions")["groups"] = groups(upto)
    return stand


def refused(stand: Stand, name: str, lacks: str) -> None:
    """Assert that a table is refused because an input lacks rows, with the remedy in the message."""
    with pytest.raises(PlanError) as error:
        stand.plan(name)
    said = f"{name} needs rows that {lacks} lacks. Build {name} with its inputs: --select +{name}"
    assert str(error.value) == said


def test_unchanged_tables_are_reused():
    stand = Stand()
    for each in NODES:
        plan = stand.plan(each["name"])
        assert (plan.action, plan.reason) == (REUSE, ""), each["name"]
        if each["name"] not in ("orders", "names"):
            assert plan.upto == stand.of(each["name"])["groups"]["upto"], each["name"]
            assert plan.history == stand.of(each["name"])["groups"]["history"], each["name"]
    assert stand.plan("lines").inputs == {"log": "log 1"}
    assert stand.plan("orders").inputs == {"model.shop.lines": "model.shop.lines 1"}


@pytest.mark.parametrize("name", [each["name"] for each in NODES])
def test_full_refresh_rebuilds_a_table(name):
    """Without a log line. A complete table needs working sets with all groups, and these have them."""
    plan = Stand().plan(name, full_refresh=True)
    assert (plan.action, plan.since, plan.reason) == (REBUILD, 0, "")


def test_full_refresh_of_a_working_set_whose_readers_stand():
    """It has all groups, because the selected readers are rebuilt in full."""
    stand = versions_go_on(Stand())
    assert stand.plan("changed") == Plan(REPLACE, 5, 6, "h 0")
    assert stand.plan("changed", full_refresh=True) == Plan(REBUILD, 0, 6, "h 0")


@pytest.mark.parametrize("name", [each["name"] for each in NODES if each["name"] not in ("changed", "rounds")])
def test_a_changed_definition_rebuilds_and_is_named(name):
    stand = Stand().edit(name)
    plan = stand.plan(name)
    assert (plan.action, plan.since, plan.reason) == (REBUILD, 0, "code")


def test_a_changed_working_set_is_rebuilt_for_its_readers():
    """Their definitions change with it, so they need all of its groups."""
    stand = Stand().edit("changed")
    assert stand.plan("changed") == Plan(REBUILD, 0, 5, "h 0", reason="code")
    stand.of("changed").update(definition=stand.parts.of("model.shop.changed"))
    assert stand.plan("rounds") == Plan(REBUILD, 0, 5, "h 0", reason="inputs")


def test_a_change_of_an_input_is_named_only_where_no_other_part_changed():
    stand = Stand().edit("lines", "orders")
    stand.of("lines").update(definition=stand.parts.of("model.shop.lines"))
    assert stand.plan("orders").reason == "code"
    assert stand.plan("names").reason == "inputs"


@pytest.mark.parametrize("name", [each["name"] for each in NODES if each["name"] not in ("changed", "rounds")])
def test_a_table_that_is_missing_is_rebuilt_without_a_reason(name):
    plan = Stand().lose(name).plan(name)
    assert (plan.action, plan.since, plan.reason) == (REBUILD, 0, "")


def test_a_missing_working_set_has_the_groups_that_readers_lack():
    stand = Stand().lose("changed")
    assert stand.plan("changed") == Plan(REPLACE, 5, 5, "h 0")
    stand.of("sums")["groups"] = groups(2)
    assert stand.plan("changed") == Plan(REPLACE, 2, 5, "h 0")


def test_a_plain_table_follows_the_content_of_its_inputs():
    stand = Stand()
    stand.of("lines")["content"] = "lines 2"
    assert stand.plan("orders") == Plan(REBUILD, inputs={"model.shop.lines": "lines 2"})


def test_versions_continue_if_only_inputs_have_changed():
    stand = Stand()
    stand.of("orders")["content"] = "orders 2"
    assert stand.plan("versions") == Plan(REPLACE, 5, 0, "h 0", {"model.shop.orders": "orders 2"})
    del stand.of("versions")["groups"]  # for example from an earlier release
    assert stand.plan("versions").action == REBUILD
    stand.of("versions")["groups"] = groups(5)
    assert stand.edit("versions").plan("versions")[0:2] == (REBUILD, 0)


def test_a_table_of_row_versions_continues_where_the_log_has_changed():
    stand = Stand()
    stand.logs["/somewhere"] = "log 2"
    assert stand.plan("lines") == Plan(REPLACE, 3, 0, "l 1", {"log": "log 2"})
    del stand.logs["/somewhere"]  # a log that cannot be read
    assert stand.plan("lines") == Plan(REPLACE, 3, 0, "l 1", None)


def test_a_missing_log_is_an_input_as_well():
    stand = Stand()
    stand.nodes["model.shop.lines"]["config"]["meta"]["log"] = None
    assert stand.plan("lines") == Plan(REPLACE, 3, 0, "l 1", {"log": ""})
    stand.of("lines")["inputs"] = {"log": ""}
    assert stand.plan("lines").action == REUSE


@pytest.mark.parametrize("noted", [None, {"source.shop.outside": "x"}, {}])
def test_a_reader_of_an_unknown_table_is_rebuilt(noted):
    outside = node("outside", "table")
    outside["depends_on"]["nodes"] = ["source.shop.outside"]
    stand = Stand(outside)
    stand.of("outside")["inputs"] = noted
    assert stand.plan("outside") == Plan(REBUILD)


def test_a_reader_of_a_table_without_content_is_rebuilt():
    stand = Stand()
    del stand.of("lines")["content"]
    assert stand.plan("orders") == Plan(REBUILD)


def test_a_night():
    """Each table is built for the versions that are later than its own, or than those of its readers."""
    stand = versions_go_on(Stand())
    stand.of("sums")["groups"] = groups(4)
    assert stand.plan("changed") == Plan(REPLACE, 4, 6, "h 0")
    stand.of("changed")["groups"] = groups(6, since=4)
    assert stand.plan("changed").action == REUSE
    assert stand.plan("rounds") == Plan(REPLACE, 4, 6, "h 0")
    stand.of("rounds")["groups"] = groups(6, since=4)
    assert stand.plan("sums") == Plan(REPLACE, 4, 6, "h 0")
    refused(stand, "counts", "sums")  # a complete table of these groups that is not built yet
    stand.of("sums")["groups"] = groups(6)
    assert stand.plan("counts") == Plan(REPLACE, 5, 6, "h 0")


def test_a_working_set_with_too_few_groups_is_rebuilt():
    stand = Stand()
    stand.of("changed")["groups"] = groups(5, since=4)
    stand.of("counts")["groups"] = groups(3)
    assert stand.plan("changed") == Plan(REPLACE, 3, 5, "h 0")
    refused(stand, "counts", "changed")
    stand.of("changed")["groups"] = groups(5, since=3)
    assert stand.plan("counts") == Plan(REPLACE, 3, 5, "h 0")


def test_readers_of_a_working_set():
    """Missing readers count if they are selected; readers with a changed definition need all groups."""
    stand = versions_go_on(Stand()).lose("sums")
    stand.selected = {"model.shop.changed"}
    assert stand.plan("changed") == Plan(REPLACE, 5, 6, "h 0")
    stand.selected = {"model.shop.sums"}
    assert stand.plan("changed") == Plan(REBUILD, 0, 6, "h 0")
    stand = versions_go_on(Stand()).edit("counts")
    stand.selected = set()
    assert stand.plan("changed") == Plan(REBUILD, 0, 6, "h 0")


def test_a_working_set_without_readers_has_all_groups():
    stand = versions_go_on(Stand(node("alone", WORKING_SET, "orders", "versions", versions="versions")))
    stand.of("alone")["groups"] = groups(5)
    assert stand.plan("alone") == Plan(REBUILD, 0, 6, "h 0")


def test_a_reader_of_another_kind_needs_all_groups():
    """It counts if its table exists or is built; a view always counts, a test never."""
    stand = versions_go_on(Stand(node("report", "table", "changed")))
    assert stand.plan("changed") == Plan(REBUILD, 0, 6, "h 0")
    stand.lose("report").selected.remove("model.shop.report")
    assert stand.plan("changed") == Plan(REPLACE, 5, 6, "h 0")
    for materialized in ("view", "ephemeral"):
        stand = versions_go_on(Stand(node("seen", materialized, "changed")).lose("seen"))
        stand.selected.remove("model.shop.seen")
        assert stand.plan("changed") == Plan(REBUILD, 0, 6, "h 0")
    stand = versions_go_on(Stand(node("seen", "test", "changed", resource_type="test")))
    assert stand.plan("changed") == Plan(REPLACE, 5, 6, "h 0")


def test_a_plain_table_reads_a_working_set_that_has_all_groups():
    stand = Stand(node("report", "table", "changed"))
    assert stand.plan("report", full_refresh=True).action == REBUILD
    for too_few in (groups(5, since=1), groups(4), groups(5, history="other 0")):
        stand.of("changed")["groups"] = too_few
        refused(stand.lose("report") if "model.shop.report" in stand.manifests else stand, "report", "changed")


def test_a_working_set_of_other_groups_is_refused():
    stand = Stand(node("mixed", COMPLETE, "changed", "town_versions", versions="town_versions")).lose("mixed")
    with pytest.raises(PlanError, match="mixed reads changed, a working set of other groups: read a complete"):
        stand.plan("mixed")


def test_a_history_that_began_anew_rebuilds_its_tables():
    stand = Stand()
    stand.of("versions")["groups"] = groups(5, history="other 0")
    assert stand.plan("changed") == Plan(REBUILD, 0, 5, "other 0")
    refused(stand, "sums", "rounds")
    for name in ("changed", "rounds"):
        stand.of(name)["groups"] = groups(5, history="other 0")
    assert stand.plan("sums") == Plan(REBUILD, 0, 5, "other 0")
    assert stand.plan("towns").action == REUSE


def test_a_complete_table_without_versions_is_rebuilt():
    stand = Stand().lose("versions")
    for name in ("changed", "sums"):
        stand.of(name)["groups"] = groups(0, history="")
    assert stand.plan("changed") == Plan(REBUILD)


@pytest.mark.parametrize("table", ["orders", "lines", "versions"])
def test_a_complete_table_is_not_built_from_inputs_of_another_state(table):
    """Otherwise its rows would be recorded under versions that describe other rows."""
    stand = Stand().lose("changed")
    stand.of(table)["content"] = "another"
    if table == "versions":  # whose own content only tells its version
        stand.of("versions")["inputs"] = {"model.shop.orders": "another"}
    with pytest.raises(PlanError, match=r"changed needs rows that (orders|versions) lacks"):
        stand.plan("changed")


def test_a_complete_table_is_not_built_from_inputs_of_another_definition():
    stand = Stand().edit("names")
    with pytest.raises(PlanError, match="sums needs rows that names lacks"):
        stand.plan("sums")
    stand.of("names")["definition"] = stand.parts.of("model.shop.names")
    assert stand.plan("sums") == Plan(REBUILD, 0, 5, "h 0", reason="inputs")


def test_a_complete_table_is_not_built_from_a_stale_table_of_other_groups():
    stand = versions_go_on(Stand().lose("towns"))
    refused(stand, "towns", "sums")
    for name in ("changed", "rounds", "sums"):
        stand.of(name)["groups"] = groups(6)
    assert stand.plan("towns").action == REBUILD


def test_a_seed_that_was_edited():
    """Only its file counts; changed macros or versions do not reload it."""
    seed = node("shops", "seed", resource_type="seed")
    stand = Stand(seed, node("shop_sums", COMPLETE, "shops", "versions", versions="versions")).lose("shop_sums")
    stand.of("shops")["definition"] = {"code": "0", "inputs": "other"}
    assert stand.plan("shop_sums").action == REBUILD
    refused(stand.edit("shops"), "shop_sums", "shops")


def test_unknown_inputs_count_as_current():
    """A source, a view, a table without manifest."""
    seen = node("seen", "view", "outside")
    outside = node("outside", "table")
    outside["depends_on"]["nodes"] = ["source.shop.outside"]
    stand = Stand(outside, seen, node("asked", COMPLETE, "seen", "versions", versions="versions"))
    stand.of("outside")["inputs"] = None
    stand.lose("asked", "seen")
    assert stand.plan("asked").action == REBUILD
    assert stand.lose("outside").plan("asked").action == REBUILD


@pytest.mark.parametrize("materialized", [COMPLETE, WORKING_SET])
@pytest.mark.parametrize("versions", [None, "gone"])
def test_a_table_without_group_versions_is_refused(materialized, versions):
    """The model of versions is not named, or is disabled."""
    with pytest.raises(PlanError, match="lost lacks a model of group versions: set `group_versions` in its meta"):
        Stand(node("lost", materialized, "orders", versions=versions)).lose("lost").plan("lost")
    rounds = Stand(node("lost", "fixpoint", "orders")).lose("lost").plan("lost")  # a plain table needs no versions
    assert rounds.action == REBUILD


def test_group_versions_for_a_test():
    stand = Stand()
    planner = stand.planner()
    assert planner.groups_of("model.shop.sums") == groups(5)
    for name in ("orders", "changed", "versions", "missing"):
        assert planner.groups_of(f"model.shop.{name}" if name != "missing" else "") == groups(0, history="")
    stand.of("versions")["groups"] = groups(1, history="other 0")
    assert planner.groups_of("model.shop.sums") == groups(0, history=""), "its versions cannot be looked up any more"
