"""Decides for one node whether its table is reused, rebuilt, or replaced in part.

There are four kinds of tables. All kinds but the first belong to groups (a feed, a thread, an account): the model of
group versions has one row per group, with the version at which the rows of that group last changed.

* A plain table is reused while its definition and the contents of its inputs are the same as when it was built.
* A table of group versions is reused likewise. If only its inputs have changed, it continues from its own earlier rows.
* A complete table has the rows of all groups. It is reused while every group's version is at most the version that the
  table was built from; otherwise the rows of groups with later versions are replaced.
* A working set has the rows of the groups that its readers still lack: groups with a later version than the oldest
  version that any complete table downstream was built from.

Where the log is small, a full build costs less than the search for changed groups. The table of group versions
is then rebuilt with a history of its own, so that all tables of its groups are rebuilt, too.

A plan depends only on the definitions of nodes, the manifests of tables, the digests and lines of logs, and the
selection, never on a record of earlier runs. This module imports neither dbt nor Spark.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dbt_spark_python.incremental.definition import Definitions, changed_parts

REUSE, REBUILD, REPLACE = "reuse", "rebuild", "replace"
#: The materialization of planned tables, and the key in `meta` that says which rows one has.
MATERIALIZATION, HOLDS = "incremental_groups", "holds"
#: Its values: a table of group versions, a complete table (the default for a table of groups), a working set.
VERSIONS, COMPLETE, WORKING_SET = "versions", "all_groups", "changed_groups"
#: Materializations without a table: reading the model reads its inputs.
_WITHOUT_TABLE = ("view", "ephemeral")
#: Columns of a table of group versions. If each row is a group of its own, the key column has another name.
KEY, VERSION = "group_key", "version"
#: In a node's `meta`: the model with the versions of its groups.
VERSIONS_MODEL = "group_versions"


class Plan(NamedTuple):
    """The decision for one table."""

    action: str  # `reuse`, `rebuild` or `replace`
    since: int = 0  # Groups with a later version than this are built; 0 builds all groups
    upto: int = 0  # The latest version of any group; 0 for a node without groups
    history: str = ""  # The name of the history to which these version numbers belong
    inputs: dict[str, str] | None = None  # The contents of the inputs by name; None if one is unknown
    reason: str = ""  # Why an existing table is rebuilt, if the log should say so


class PlanError(RuntimeError):
    """A node cannot be built from the existing tables; the message says how to build it."""


class Planner:
    """Plans the nodes of one command, which builds the selected ones.

    Args:
        nodes: The nodes of dbt's graph by their ids, as dictionaries.
        definitions: Their definitions.
        manifest_of: Returns the manifest of a node's table; empty without a table, or if its files changed since.
        selected: The ids of the selected nodes.
        digest_input: Digests a log by its path, name and earlier digest (or an empty text); returns None if the log
            cannot be read.
        is_small: Whether the tables with these ids have so few rows together that readers are rebuilt in full.
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]],
        definitions: Definitions,
        manifest_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        selected: set[str],
        digest_input: Callable[[str, str, str], str | None],
        is_small: Callable[[list[str]], bool] = lambda node_ids: False,
    ) -> None:
        self._nodes, self._definitions, self._manifest_of = nodes, definitions, manifest_of
        self._selected, self._digest_input, self._is_small = selected, digest_input, is_small
        self._ids = {node["name"]: node_id for node_id, node in nodes.items() if node["resource_type"] == "model"}
        self._children: dict[str, list[str]] = {}
        self._current: set[str] = set()  # nodes found current; each is built before the nodes that read it are planned
        for node_id in nodes:
            for parent in self._parents(node_id):
                self._children.setdefault(parent, []).append(node_id)

    def plan(self, node_id: str, full_refresh: bool = False) -> Plan:
        """Decide how a run treats the table of a node; `full_refresh` rebuilds it in any case.

        Raises:
            PlanError: An input lacks rows that the table needs, or the node's model of group versions does not exist.
        """
        manifest = self._manifest(node_id)
        if self._kind(node_id) in (COMPLETE, WORKING_SET):
            if self.versions_id(node_id) is None:
                name = self._nodes[node_id]["name"]
                lack = f"{name} lacks a model of group versions"
                raise PlanError(f"{lack}: set `{VERSIONS_MODEL}` in its meta to the name of an enabled model")
            plan = self._plan_by_versions(node_id, {} if full_refresh else manifest, full_refresh)
        else:
            plan = self._plan_by_inputs(node_id, manifest, full_refresh)
        self._check_inputs(node_id, plan)
        return plan

    def _plan_by_inputs(self, node_id: str, manifest: Mapping[str, Any], full_refresh: bool) -> Plan:
        inputs, reason = self.inputs(node_id), self._changed_parts(node_id, manifest)
        if full_refresh or not manifest.get("definition") or reason:
            return Plan(REBUILD, inputs=inputs, reason="" if full_refresh else reason)
        groups = _group_versions(manifest)
        if inputs is not None and inputs == manifest.get("inputs"):
            return Plan(REUSE, inputs=inputs, **groups)
        is_continued = self._kind(node_id) == VERSIONS and groups["history"]
        if is_continued and not self._has_few_lines(node_id):
            return Plan(REPLACE, since=groups["upto"], history=groups["history"], inputs=inputs)
        return Plan(REBUILD, inputs=inputs)

    def holds(self, node_id: str) -> str | None:
        """Return which rows a table has: `versions`, `all_groups` or `changed_groups`; None if it has no groups."""
        return find_held(self._nodes[node_id]["config"])

    def inputs(self, node_id: str) -> dict[str, str] | None:
        """Return the contents of all tables and logs that a node reads, by name; None if one is unknown."""
        found, meta = self._contents(node_id), self._meta(node_id)
        if found is None:
            return None
        before = self._manifest(node_id).get("inputs") or {}
        for name in (meta.get("reads") or {}).get("paths", []):
            found[name] = self._digest_input(meta[name], name, before.get(name) or "") if meta.get(name) else ""
        return None if None in found.values() else found

    def _contents(self, node_id: str) -> dict[str, str] | None:
        """Return the contents of the tables that a node reads; None if one is unknown."""
        found = {parent: self._manifest(parent).get("content") for parent in self._parents(node_id)}
        return None if None in found.values() else found

    def groups_of(self, node_id: str) -> dict[str, Any]:
        """Return the versions that all complete tables under a test were built from; empty if a history is new.

        The node is a complete table, or a test that names its model of group versions; then the complete tables among
        its inputs that belong to the same groups count.
        """
        versions_id = self.versions_id(node_id) if node_id in self._nodes else None
        tables = [node_id] if self._kind(node_id) == COMPLETE else self._parents(node_id) if versions_id else []
        tables = [table for table in tables if self._kind(table) == COMPLETE and self.versions_id(table) == versions_id]
        if not tables:
            return _group_versions({})
        now = self._groups(versions_id)
        built = [self._groups(table) for table in tables]
        is_of_now = all(groups["history"] == now["history"] for groups in built)
        return now | {"upto": min(groups["upto"] for groups in built)} if is_of_now else _group_versions({})

    def versions_id(self, node_id: str) -> str | None:
        """Return the id of the model with the versions of a node's groups, if the node belongs to groups."""
        return self._ids.get(self._meta(node_id).get(VERSIONS_MODEL) or "")

    def _kind(self, node_id: str) -> str | None:
        """Return which rows a planned table has; the materialization of a node without groups."""
        if node_id not in self._nodes:
            return None
        config = self._nodes[node_id]["config"]
        return find_held(config) or config.get("materialized")

    def _plan_by_versions(self, node_id: str, manifest: Mapping[str, Any], full_refresh: bool) -> Plan:
        now = self._groups(self.versions_id(node_id))
        upto, history = now["upto"], now["history"]
        reason, built = self._changed_parts(node_id, manifest), self._built_versions(node_id, manifest, history)
        if self._kind(node_id) == COMPLETE:
            if built is not None and built["upto"] == upto:
                return Plan(REUSE, upto=upto, history=history)
            # Of other groups, few lines already gave the table of versions another history: `built` is None.
            is_small = self._is_table_of_lines(self.versions_id(node_id)) and self._has_few_lines(node_id)
            if built is not None and not is_small:
                return Plan(REPLACE, built["upto"], upto, history)
            return Plan(REBUILD, 0, upto, history, reason=reason)
        needed = 0 if full_refresh else self._oldest_needed(node_id, history)
        if built is not None and built["upto"] == upto and built["since"] <= needed:
            return Plan(REUSE, built["since"], upto, history)
        return Plan(REPLACE if needed else REBUILD, needed, upto, history, reason="" if needed else reason)

    def _has_few_lines(self, node_id: str) -> bool:
        """Whether a node is made from few lines. False for the table of lines itself, whose checks are kept."""
        waiting, seen = [node_id], set()
        while waiting:
            for parent in self._parents(waiting.pop()):
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        lines = sorted(filter(self._is_table_of_lines, seen))
        return bool(lines) and self._is_small(lines)

    def _is_table_of_lines(self, node_id: str) -> bool:
        """Whether each row of a table is a group of its own, with its version."""
        return bool(self._meta(node_id).get("row_versions"))

    def _built_versions(self, node_id: str, manifest: Mapping[str, Any], history: str) -> dict[str, Any] | None:
        """Return the versions that a table was built from, if the table can be continued."""
        groups = _group_versions(manifest)
        is_of_now = bool(manifest.get("definition")) and not self._changed_parts(node_id, manifest)
        return groups if is_of_now and history and groups["history"] == history else None

    def _oldest_needed(self, node_id: str, history: str) -> int:
        """Return the oldest version that complete tables downstream were built from; 0 if one is rebuilt."""
        found = []
        for reader in self._readers(node_id):
            manifest = self._manifest(reader)
            if manifest or reader in self._selected or self._kind(reader) in _WITHOUT_TABLE:
                built = self._built_versions(reader, manifest, history) if self._kind(reader) == COMPLETE else None
                found.append(0 if built is None else built["upto"])
        return min(found, default=0)

    def _readers(self, node_id: str) -> Iterator[str]:
        """Yield the models downstream of a working set: complete tables, and other models, which need all rows."""
        waiting, seen = [node_id], set()
        while waiting:
            for child in self._children.get(waiting.pop(), []):
                if child in seen or self._nodes[child]["resource_type"] != "model":
                    continue
                seen.add(child)
                if self._kind(child) == WORKING_SET:
                    waiting.append(child)
                else:
                    yield child

    def _check_inputs(self, node_id: str, plan: Plan) -> None:
        """Refuse a plan if an input has too few groups, or was built from other versions."""
        if plan.action == REUSE:
            return
        name, versions_id = self._nodes[node_id]["name"], self.versions_id(node_id)
        has_groups = self._kind(node_id) in (COMPLETE, WORKING_SET)
        for parent in [*self._parents(node_id), *([versions_id] if has_groups else [])]:
            kind, other = self._kind(parent), parent.rpartition(".")[2]
            if has_groups and kind in (COMPLETE, WORKING_SET) and self.versions_id(parent) == versions_id:
                built = self._built_versions(parent, self._manifest(parent), plan.history)
                is_ready = built is not None and built["upto"] == plan.upto
                is_ready = is_ready and (kind == COMPLETE or built["since"] <= plan.since)
            elif kind == WORKING_SET:
                if has_groups:
                    raise PlanError(
                        f"{name} reads {other}, a working set of other groups: read a complete table instead"
                    )
                is_ready = self._is_current(parent) and not self._groups(parent)["since"]
            else:
                is_ready = not has_groups or self._is_current(parent)
            if not is_ready:
                raise PlanError(f"{name} needs rows that {other} lacks. Build {name} with its inputs: --select +{name}")

    def _is_current(self, node_id: str) -> bool:
        """Whether a table matches its inputs, and each input matches its own inputs in turn.

        Logs are left out, because only the first tables read them. An unknown state counts as current. An input that
        was known and is gone does not: tables that were made from it may come from different states of it.
        """
        if node_id in self._nodes and node_id not in self._current:
            manifest = self._manifest(node_id)
            versions_id = self.versions_id(node_id) if self._kind(node_id) in (COMPLETE, WORKING_SET) else None
            if manifest.get("definition") and not self._is_current_alone(node_id, manifest, versions_id):
                return False
            if not all(map(self._is_current, [*self._parents(node_id), *([versions_id] if versions_id else [])])):
                return False
            self._current.add(node_id)
        return True

    def _is_current_alone(self, node_id: str, manifest: Mapping[str, Any], versions_id: str | None) -> bool:
        if self._nodes[node_id]["resource_type"] == "seed":  # `dbt run` skips seeds
            return manifest["definition"].get("code") == self._definitions.of(node_id).get("code")
        if versions_id:
            now = self._groups(versions_id)
            built = self._built_versions(node_id, manifest, now["history"])
            return built is not None and built["upto"] == now["upto"]
        contents = self._contents(node_id)
        noted = manifest.get("inputs")
        is_current = noted is None or (contents is not None and contents.items() <= noted.items())
        return is_current and not self._changed_parts(node_id, manifest)

    def _meta(self, node_id: str) -> Mapping[str, Any]:
        return (self._nodes[node_id]["config"].get("meta") or {}) if node_id in self._nodes else {}

    def _manifest(self, node_id: str) -> Mapping[str, Any]:
        return self._manifest_of(self._nodes[node_id]) if node_id in self._nodes else {}

    def _groups(self, node_id: str) -> dict[str, Any]:
        return _group_versions(self._manifest(node_id))

    def _parents(self, node_id: str) -> list[str]:
        node = self._nodes.get(node_id)  # None for a source
        return (node["depends_on"].get("nodes") or []) if node else []

    def _changed_parts(self, node_id: str, manifest: Mapping[str, Any]) -> str:
        """Name the changed parts of an existing table's definition; empty if it is unchanged."""
        before = manifest.get("definition")
        return ", ".join(changed_parts(before, self._definitions.of(node_id))) if before else ""


def find_held(config: Mapping[str, Any]) -> str | None:
    """Return which rows the table of a node with this config has: one of the values of `HOLDS`; None without groups."""
    meta = config.get("meta") or {}
    held = {MATERIALIZATION: meta.get(HOLDS, COMPLETE), "fixpoint": WORKING_SET}.get(config.get("materialized"))
    return held if held == VERSIONS or meta.get(VERSIONS_MODEL) else None


def _group_versions(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the group versions in a manifest: `history`, `since`, `upto`."""
    return {"history": "", "since": 0, "upto": 0} | (manifest.get("groups") or {})
