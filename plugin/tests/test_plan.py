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
from simulated_runs import Parts, graph, kind_of, node

LOG = {"reads": {"paths": ["log"]}, "log": "/somewhere", "row_versions": True}
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
    return {"history": history, "since": since, "upto": upto}


class Stand:
    """The tables of a graph, all built and in one state: group version 5, towns 2."""

    def __init__(self, *more: dict) -> None:
        self.nodes = graph(*NODES, *more)
        self.parts, self.selected, self.logs = Parts(self.nodes), set(self.nodes), {"/somewhere": "log 1"}
        self.manifests, self.small_lines = {}, set()
        for node_id, each in self.nodes.items():
            inputs = {parent: f"{parent} 1" for parent in each["depends_on"]["nodes"]}
            has_groups = kind_of(each) in (COMPLETE, WORKING_SET, "fixpoint")
            inputs |= {"log": "log 1"} if each["name"] == "lines" else {}
            self.manifests[node_id] = {
                "definition": self.parts.of(node_id),
                "inputs": None if has_groups else inputs,
                "content": f"{node_id} 1",
            }
        self.at(groups(5), "versions", "changed", "rounds", "sums", "counts")
        self.at(groups(3, history="l 1"), "lines").at(groups(2, history="t 0"), "town_versions", "towns")

    def of(self, name: str) -> dict:
        """The manifest of a table."""
        return self.manifests[f"model.shop.{name}"]

    def at(self, versions: dict, *names: str) -> "Stand":
        """Set the group versions of tables."""
        for name in names:
            self.of(name)["groups"] = versions
        return self

    def note(self, name: str, **manifest) -> "Stand":
        """Change the manifest of a table."""
        self.of(name).update(manifest)
        return self

    def lose(self, *names: str) -> "Stand":
        """Delete tables."""
        for name in names:
            del self.manifests[f"model.shop.{name}"]
        return self

    def edit(self, *names: str, built: tuple = ()) -> "Stand":
        """Change the code of nodes; tables in `built` are built with the new definitions."""
        self.parts.codes |= {f"model.shop.{name}": "other" for name in names}
        for name in built:
            self.of(name)["definition"] = self.parts.of(f"model.shop.{name}")
        return self

    def select(self, *names: str) -> "Stand":
        """Build these tables only."""
        self.selected = {f"model.shop.{name}" for name in names}
        return self

    def log(self, *contents: str) -> "Stand":
        """Change the log; without contents it cannot be read."""
        self.logs = dict(zip(["/somewhere"], contents, strict=False))
        return self

    def small(self, *names: str) -> "Stand":
        """Let these tables of lines be small."""
        self.small_lines = {f"model.shop.{name}" for name in names}
        return self

    def planner(self) -> Planner:
        """Return a planner for the current state."""
        return Planner(
            self.nodes,
            self.parts,
            lambda each: self.manifests.get(each["unique_id"], {}),
            self.selected,
            lambda path, name, before: self.logs.get(path),
            lambda node_ids: {*node_ids} <= self.small_lines,
        )

    def plan(self, name: str, full_refresh: bool = False) -> Plan:
        """The plan of one table."""
        return self.planner().plan(f"model.shop.{name}", full_refresh)


def night(*more: dict) -> Stand:
    """Orders have changed, and their versions go on to 6."""
    stand = Stand(*more).note("orders", content="orders 2").at(groups(6), "versions")
    stand.of("versions")["inputs"]["model.shop.orders"] = "orders 2"
    return stand


@pytest.mark.parametrize("name", [each["name"] for each in NODES])
def test_a_table_is_rebuilt(name):
    """By a full refresh, if its definition has changed, which is named, or if it is missing."""
    plans = [(Stand().plan(name, full_refresh=True), "")]
    if name not in ("changed", "rounds"):
        plans += [(Stand().edit(name).plan(name), "code"), (Stand().lose(name).plan(name), "")]
    for plan, reason in plans:
        assert (plan.action, plan.since, plan.reason) == (REBUILD, 0, reason)


REPORT = node("report", "table", "changed")
ALONE = node("alone", WORKING_SET, "orders", "versions", versions="versions")
OUTSIDE = node("outside", "table") | {"depends_on": {"nodes": ["source.shop.outside"]}}
SEED = node("shops", "seed", resource_type="seed")
OF_SEED = node("shop_sums", COMPLETE, "shops", "versions", versions="versions")
LINES, ORDERS = "model.shop.lines", "model.shop.orders"
NO_LOG = [{**each, "config": each["config"] | {"meta": each["config"]["meta"] | {"log": None}}} for each in NODES[:1]]


@pytest.mark.parametrize(
    ("stand", "name", "plan"),
    [
        # Plain tables and tables of versions follow the contents of their inputs.
        (Stand().note("lines", content="2"), "orders", Plan(REBUILD, inputs={LINES: "2"})),
        (Stand().note("lines", content=None), "orders", Plan(REBUILD)),
        (Stand().note("orders", content="2"), "versions", Plan(REPLACE, 5, 0, "h 0", {ORDERS: "2"})),
        (Stand().note("orders", content="2").at(None, "versions"), "versions", Plan(REBUILD, inputs={ORDERS: "2"})),
        (Stand().log("log 2"), "lines", Plan(REPLACE, 3, 0, "l 1", {"log": "log 2"})),
        (Stand().log(), "lines", Plan(REPLACE, 3, 0, "l 1", None)),
        (Stand(*NO_LOG).at(groups(3, history="l 1"), "lines"), "lines", Plan(REPLACE, 3, 0, "l 1", {"log": ""})),
        (Stand(*NO_LOG).note("lines", inputs={"log": ""}), "lines", Plan(REUSE, 0, 3, "l 1", {"log": ""})),
        *(
            (Stand(OUTSIDE).note("outside", inputs=inputs), "outside", Plan(REBUILD))
            for inputs in (None, {"source.shop.outside": "x"}, {})
        ),
        # A change of an input is named only where no other part changed.
        (
            Stand().edit("lines", "orders", built=("lines",)),
            "orders",
            Plan(REBUILD, inputs={LINES: f"{LINES} 1"}, reason="code"),
        ),
        (
            Stand().edit("lines", "orders", built=("lines",)),
            "names",
            Plan(REBUILD, inputs={LINES: f"{LINES} 1"}, reason="inputs"),
        ),
        # A working set has the groups that its readers lack, and all groups if their definitions changed.
        (Stand().edit("changed"), "changed", Plan(REBUILD, 0, 5, "h 0", reason="code")),
        (Stand().edit("changed", built=("changed",)), "rounds", Plan(REBUILD, 0, 5, "h 0", reason="inputs")),
        (Stand().lose("changed"), "changed", Plan(REPLACE, 5, 5, "h 0")),
        (Stand().lose("changed").at(groups(2), "sums"), "changed", Plan(REPLACE, 2, 5, "h 0")),
        (Stand().at(groups(5, since=4), "changed").at(groups(3), "counts"), "changed", Plan(REPLACE, 3, 5, "h 0")),
        (Stand().at(groups(5, since=3), "changed").at(groups(3), "counts"), "counts", Plan(REPLACE, 3, 5, "h 0")),
        (night(ALONE), "alone", Plan(REBUILD, 0, 6, "h 0")),
        # Missing readers count if they are selected.
        (night().lose("sums").select("changed"), "changed", Plan(REPLACE, 5, 6, "h 0")),
        (night().lose("sums").select("sums"), "changed", Plan(REBUILD, 0, 6, "h 0")),
        (night().edit("counts").select(), "changed", Plan(REBUILD, 0, 6, "h 0")),
        # A reader of another kind needs all groups, if its table exists or is built; a view always, a test never.
        (night(REPORT), "changed", Plan(REBUILD, 0, 6, "h 0")),
        (night(REPORT).lose("report").select(), "changed", Plan(REPLACE, 5, 6, "h 0")),
        *(
            (night(node("seen", kind, "changed")).lose("seen").select(), "changed", Plan(REBUILD, 0, 6, "h 0"))
            for kind in ("view", "ephemeral")
        ),
        (night(node("seen", "test", "changed", resource_type="test")), "changed", Plan(REPLACE, 5, 6, "h 0")),
        # A history that began anew rebuilds its tables, and only those.
        (Stand().at(groups(5, history="other 0"), "versions"), "changed", Plan(REBUILD, 0, 5, "other 0")),
        (
            Stand().at(groups(5, history="other 0"), "versions", "changed", "rounds"),
            "sums",
            Plan(REBUILD, 0, 5, "other 0"),
        ),
        (Stand().at(groups(5, history="other 0"), "versions"), "towns", Plan(REUSE, 0, 2, "t 0")),
        (Stand().lose("versions").at(groups(0, history=""), "changed", "sums"), "changed", Plan(REBUILD)),
        # A complete table is built from current inputs. Of a seed, only its file counts.
        (Stand().edit("names", built=("names",)), "sums", Plan(REBUILD, 0, 5, "h 0", reason="inputs")),
        (night().lose("towns").at(groups(6), "changed", "rounds", "sums"), "towns", Plan(REBUILD, 0, 2, "t 0")),
        (
            Stand(SEED, OF_SEED).lose("shop_sums").note("shops", definition={"code": "0", "inputs": "other"}),
            "shop_sums",
            Plan(REBUILD, 0, 5, "h 0"),
        ),
    ],
)
def test_a_plan(stand, name, plan):
    assert stand.plan(name) == plan


def test_small_logs_are_built_in_full():
    """The lines keep their checks; versions get a history of their own, and their groups follow."""
    stand = Stand(node("messages", COMPLETE, "lines", "outside", versions="lines"), OUTSIDE).log("log 2")
    stand.note("outside", inputs=None)
    assert stand.plan("lines").action == REPLACE
    stand.at(groups(4, history="l 1"), "lines").note("orders", content="orders 2").at(
        groups(3, history="l 1"), "messages"
    )
    for is_small, action in ((False, REPLACE), (True, REBUILD)):
        stand.small(*["lines"] * is_small)
        assert (stand.plan("versions").action, stand.plan("messages").action) == (action, action)
    assert stand.log("log 3").plan("lines").action == REPLACE
    stand.note("versions", inputs={"model.shop.orders": "orders 2"})
    assert stand.plan("versions").action == REUSE


MIXED = node("mixed", COMPLETE, "changed", "town_versions", versions="town_versions")


@pytest.mark.parametrize(
    ("stand", "name", "lacks"),
    [
        (night().at(groups(6, since=4), "changed", "rounds").at(groups(4), "sums"), "counts", "sums"),
        (Stand().at(groups(5, since=4), "changed").at(groups(3), "counts"), "counts", "changed"),
        (Stand().at(groups(5, history="other 0"), "versions"), "sums", "rounds"),
        *(
            (Stand(REPORT).lose("report").at(too_few, "changed"), "report", "changed")
            for too_few in (groups(5, since=1), groups(4), groups(5, history="other 0"))
        ),
        # Otherwise its rows would be recorded under versions that describe other rows.
        (Stand().lose("changed").note("orders", content="another"), "changed", "versions"),
        (Stand().lose("changed").note("lines", content="another"), "changed", "orders"),
        (Stand().lose("changed").note("versions", inputs={ORDERS: "another"}), "changed", "versions"),
        (Stand().edit("names"), "sums", "names"),
        # The tables that were made from a lost one may come from different states of it.
        (Stand().lose("changed", "lines"), "changed", "orders"),
        (night().lose("towns"), "towns", "sums"),
        (Stand(SEED, OF_SEED).lose("shop_sums").edit("shops"), "shop_sums", "shops"),
    ],
)
def test_a_table_is_refused_if_an_input_lacks_rows(stand, name, lacks):
    with pytest.raises(PlanError) as error:
        stand.plan(name)
    assert str(error.value) == f"{name} needs rows that {lacks} lacks. Build {name} with its inputs: --select +{name}"


def test_unknown_inputs_count_as_current():
    stand = Stand(OUTSIDE, node("seen", "view", "outside"), node("asked", COMPLETE, "seen", versions="versions"))
    stand.note("outside", inputs=None).lose("asked", "seen")
    assert stand.plan("asked").action == REBUILD
    assert stand.lose("outside").plan("asked").action == REBUILD


@pytest.mark.parametrize("kind", [COMPLETE, WORKING_SET, "fixpoint"])
def test_a_model_of_group_versions_that_is_missing_or_of_other_groups(kind):
    with pytest.raises(PlanError, match="lost lacks a model of group versions: set `group_versions` in its meta"):
        Stand(node("lost", kind, "orders", versions="gone")).lose("lost").plan("lost")
    stand = Stand(node("lost", kind, "orders")).lose("lost")  # without the name, a table has no groups
    assert (stand.plan("lost").action, stand.planner().holds("model.shop.lost")) == (REBUILD, None)
    with pytest.raises(PlanError, match="mixed reads changed, a working set of other groups: read a complete"):
        Stand(MIXED).lose("mixed").plan("mixed")


def test_group_versions_for_a_test():
    stand = Stand()
    planner = stand.planner()
    assert planner.groups_of("model.shop.sums") == groups(5)
    for name in ("orders", "changed", "versions", "missing"):
        assert planner.groups_of(f"model.shop.{name}" if name != "missing" else "") == groups(0, history="")
    stand.at(groups(1, history="other 0"), "versions")
    assert planner.groups_of("model.shop.sums") == groups(0, history=""), "its versions cannot be looked up any more"
