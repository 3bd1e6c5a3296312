"""A warehouse of dictionaries in which runs follow the plans of `incremental.plan`, without dbt and an engine.

Tables are sets of rows with a group and a value.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from dbt_spark_python.incremental.plan import (
    COMPLETE,
    MATERIALIZATION,
    REBUILD,
    REPLACE,
    REUSE,
    VERSIONS,
    WORKING_SET,
    PlanError,
    Planner,
)

Rows = frozenset[tuple[str, str]]
_runs = count()


def node(name: str, kind: str, *parents: str, versions: str | None = None, **more: Any) -> dict[str, Any]:
    """A node of dbt's graph, with the fields that a plan reads; `kind` says which rows it has, or how it is made."""
    meta = {"group_versions": versions} if versions else {}
    is_planned = kind in (COMPLETE, VERSIONS, WORKING_SET)
    meta |= {"holds": kind} if is_planned else {}
    return {
        "name": name,
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "config": {"materialized": MATERIALIZATION if is_planned else kind, "meta": meta | more.pop("meta", {})},
        "depends_on": {"nodes": [f"model.shop.{parent}" for parent in parents], "macros": []},
    } | more


def kind_of(node: dict[str, Any]) -> str:
    """The kind that `node` was given."""
    return node["config"]["meta"].get("holds") or node["config"]["materialized"]


def graph(*nodes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["unique_id"]: each for each in nodes}


class Parts:
    """The definitions of nodes, like `Definitions`: one part for the code, one for the definitions of inputs."""

    def __init__(self, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        self.nodes, self.codes = nodes, {}

    def of(self, node_id: str) -> dict[str, str]:
        """The definition of a node; empty for a source."""
        if node_id not in self.nodes:
            return {}
        parents = [self.of(parent) for parent in self.nodes[node_id]["depends_on"]["nodes"]]
        return {"code": str(self.codes.get(node_id, 0)), "inputs": _digest(parents)}


class Simulation:
    """A warehouse, its log, and the graph, whose inputs come before their readers.

    `compute` gives the rows of a node from its name, its code, and the rows of its inputs by short name.
    """

    def __init__(
        self, nodes: dict[str, dict[str, Any]], compute: Callable[[str, str, Mapping[str, Rows]], Rows]
    ) -> None:
        self.nodes, self._compute = nodes, compute
        self.definitions = Parts(nodes)
        self.log: Rows = frozenset()
        self.tables: dict[str, Any] = {}  # rows by node id; for group versions, digest and version by group
        self.manifests: dict[str, dict[str, Any]] = {}
        self.refused: dict[str, str] = {}

    def run(
        self, selected: set[str], failing: frozenset[str] = frozenset(), full_refresh: bool = False
    ) -> dict[str, str]:
        """Run some nodes, of which some fail, and those behind these are skipped; returns the actions by name."""
        chosen = {node_id for node_id in self.nodes if self.nodes[node_id]["name"] in selected}
        planner = Planner(
            self.nodes,
            self.definitions,
            lambda each: self.manifests.get(each["unique_id"], {}),
            chosen,
            lambda path, name, before: _digest(sorted(self.log)),
        )
        lost, done, self.refused, run = set(), {}, {}, f"run {next(_runs)}"
        for node_id in self.nodes:
            name, parents = self.nodes[node_id]["name"], self.nodes[node_id]["depends_on"]["nodes"]
            fails = name in failing or not self.tables.keys() >= set(parents)
            if lost & set(parents) or (node_id in chosen and fails):
                lost.add(node_id)
            elif node_id in chosen:
                try:
                    plan = planner.plan(node_id, full_refresh)
                    self._make(node_id, plan, run)
                    done[name] = plan.action
                except PlanError as error:
                    self.refused[name] = str(error)
                    lost.add(node_id)
        return done

    def full(self) -> "Simulation":
        """A full build of the same log by the same definitions, in another warehouse."""
        made = Simulation(self.nodes, self._compute)
        made.log, made.definitions = self.log, self.definitions
        assert set(made.run({node["name"] for node in self.nodes.values()}).values()) == {REBUILD}
        return made

    def rows(self, name: str) -> Rows:
        """The rows of a table; for group versions, the digests of groups with rows."""
        table = self.tables[f"model.shop.{name}"]
        if isinstance(table, dict):
            return frozenset((group, digest) for group, (digest, _) in table.items() if digest)
        return table

    def drop(self, name: str) -> None:
        """Delete a table."""
        self.tables.pop(f"model.shop.{name}", None)
        self.manifests.pop(f"model.shop.{name}", None)

    def _rows(self, node_id: str, inputs: Mapping[str, Rows]) -> Rows:
        given = dict(inputs) | ({"log": self.log} if self.nodes[node_id]["config"]["meta"].get("reads") else {})
        return self._compute(self.nodes[node_id]["name"], self.definitions.of(node_id)["code"], given)

    def _make(self, node_id: str, plan: Any, run: str) -> None:
        groups = {"history": plan.history, "since": plan.since, "upto": plan.upto}
        if plan.action != REUSE:
            names = [self.nodes[parent]["name"] for parent in self.nodes[node_id]["depends_on"]["nodes"]]
            inputs = {name: self.rows(name) for name in names}
            if kind_of(self.nodes[node_id]) == VERSIONS:
                before = self.tables[node_id] if plan.action == REPLACE else {}
                self.tables[node_id] = self._versions(node_id, inputs, before, plan.since + 1)
                begun = plan.history.partition(" ")[0] or run.replace(" ", "_")
                last = max((version for _, version in self.tables[node_id].values()), default=0)
                groups = {"history": f"{begun} 0", "since": 0, "upto": last}
            else:
                self.tables[node_id] = self._replaced(node_id, plan, self._rows(node_id, inputs))
        self.manifests[node_id] = {
            "definition": self.definitions.of(node_id),
            "inputs": plan.inputs,
            "groups": groups,
            "content": _digest(repr(sorted(self.rows(self.nodes[node_id]["name"])))),
        }

    def _versions(self, node_id: str, inputs: Mapping[str, Rows], before: dict, version: int) -> dict:
        now = _digests(self._rows(node_id, inputs))
        kept = {group: noted for group, noted in before.items() if noted[0] == now.get(group)}
        return {group: (now.get(group), version) for group in {*before, *now}} | kept

    def _replaced(self, node_id: str, plan: Any, rows: Rows) -> Rows:
        """The new rows of a table: all rows, or those of changed groups, according to the plan."""
        if plan.action == REBUILD:
            return rows
        versions = self.tables[f"model.shop.{self.nodes[node_id]['config']['meta']['group_versions']}"]
        changed = {group for group, (_, version) in versions.items() if version > plan.since}
        made = frozenset(row for row in rows if row[0] in changed)
        if kind_of(self.nodes[node_id]) != COMPLETE:
            return made
        return made | frozenset(row for row in self.tables[node_id] if row[0] not in changed)


def _digests(rows: Rows) -> dict[str, str]:
    groups: dict[str, list[str]] = {}
    for group, value in rows:
        groups.setdefault(group, []).append(value)
    return {group: _digest(sorted(values)) for group, values in groups.items()}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]
