"""The adapter's methods for planned incremental runs, which materializations call; see `incremental.plan`."""

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import agate
from dbt.adapters.base import BaseRelation
from dbt.adapters.base.meta import AdapterMeta, available
from dbt.artifacts.resources.types import NodeType
from dbt.flags import get_flags
from dbt_common.clients import agate_helper
from dbt_common.invocation import get_invocation_id

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.definition import INPUTS, Definitions
from dbt_spark_python.incremental.earlier import changed_groups, since_view_name
from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.incremental.plan import REBUILD, REUSE, Plan, Planner
from dbt_spark_python.incremental.replace import replace_groups
from dbt_spark_python.input_files import digest_input
from dbt_spark_python.session import connection
from dbt_spark_python.session.progress import logger
from dbt_spark_python.table_store.catalog import full_name
from dbt_spark_python.table_store.public_folders import Publication


class PlannedRuns(metaclass=AdapterMeta):
    """A part of the adapter: plans the nodes of a command, and publishes their tables with the origins that plans need.

    A materialization calls `plan`, then `begin_table`, and then `reuse_table`, `replace_groups` or `record_versions`.
    The table is published when its node has succeeded.
    """

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._planner: Planner | None = None
        self._plans: dict[str, Plan] = {}  # plans of the command's nodes by node id
        self._planning = threading.Lock()
        self._selected: set[str] = set()  # the ids of the nodes that the command builds
        self._manifests: dict[tuple[str, str], Mapping[str, Any]] = {}  # manifests that were read already
        # Tables that are being built, until they are published.
        self._building: dict[tuple[str, str], Publication] = {}
        self._reused: set[tuple[str, str]] = set()  # tables that are reused, until they are published
        self._logged_reasons: set[str] = set()  # reasons that were logged

    @available
    def plan(self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool) -> dict[str, Any]:
        """Decide how the command treats a node; see `incremental.plan`.

        Args:
            nodes: The nodes of dbt's graph.
            node_id: The node's id.
            selected: The ids of the nodes that the command builds.
            full_refresh: Rebuild the node in any case.

        Returns:
            The fields of the plan. Without a folder warehouse every node is rebuilt.
        """
        with self._planning:
            if node_id not in self._plans:
                self._plans[node_id] = self._make_plan(nodes, node_id, selected, full_refresh)
            return self._plans[node_id]._asdict()

    @available
    def is_planned(self) -> bool:
        """Whether tables are in a folder warehouse. Its manifests record the inputs of each table."""
        return connection.catalog_of(self.config.credentials) is not None

    @available
    def begin_table(self, relation: BaseRelation, node_id: str, key_columns: list[str] | None) -> str:
        """Announce that a node's table is about to be built or reused, according to its plan.

        Args:
            relation: The table.
            node_id: The node's id.
            key_columns: The key columns, for counting changed rows; None if changes are not counted.
        """
        plan, publication = self._plans.get(node_id), Publication(key_columns=key_columns)
        if plan is not None:
            groups = {"history": plan.history, "since": plan.since, "upto": plan.upto}
            publication = Publication(self._definitions.of(node_id), plan.inputs, groups, key_columns)
        self._building[_key(relation.schema, relation.identifier)] = publication
        return ""

    @available
    def name_read(self, node: Mapping[str, Any]) -> str:
        """Return the SQL name of the table that a planned node reads as this node; see `_table_read`."""
        return full_name(*self._table_read(node))

    @available
    def clone_table(self, relation: BaseRelation, source: BaseRelation) -> bool:
        """Copy a published table of another schema by links to its files, with its origin, for `dbt clone`.

        Returns:
            Whether the source is a table of the warehouse whose files are those in its manifest.
        """
        warehouse = connection.catalog_of(self.config.credentials).warehouse
        key, other = _key(relation.schema, relation.identifier), _key(source.schema, source.identifier)
        noted = warehouse.trusted_manifest(*other)
        if noted:
            warehouse.copy_table(other, key)
            self._building[key] = Publication(noted.get("definition"), noted.get("inputs"), noted.get("groups"))
        return bool(noted)

    @available
    def set_since(self, relation: BaseRelation, since: int) -> str:
        """Tell a Python model since which version its groups are rebuilt; see `earlier.only_changed`.

        Args:
            relation: The table.
            since: The version; 0 rebuilds all groups.
        """
        if catalog := connection.catalog_of(self.config.credentials):
            view = since_view_name(relation)
            if since:
                catalog.spark.sql(f"select {int(since)} as since").createOrReplaceTempView(view)
            elif catalog.spark.catalog.tableExists(view):  # left by an earlier command of this process
                catalog.spark.catalog.dropTempView(view)
        return ""

    @available
    def reuse_table(self, relation: BaseRelation) -> str:
        """Mark a table as reused; call `begin_table` first."""
        self._reused.add(_key(relation.schema, relation.identifier))
        return ""

    @available
    def replace_groups(self, relation: BaseRelation, made: BaseRelation, key: str, versions: str, column: str) -> str:
        """Complete a new table of changed groups with the rows of all other groups; see `incremental.replace`.

        Args:
            relation: The published table.
            made: The new table, with the rows of groups that changed since the published table was built.
            key: The SQL expression of a row's group.
            versions: The table of group versions.
            column: Its column that names a group.
        """
        catalog = connection.catalog_of(self.config.credentials)
        name = _key(relation.schema, relation.identifier)
        publication = self._building[name]
        groups = changed_groups(catalog.spark.table(versions), publication.groups["since"], column)
        changes = replace_groups(catalog, name, made.identifier, key, groups, publication.key_columns)
        self._building[name] = publication._replace(changes=changes)
        return ""

    @available
    def record_versions(self, relation: BaseRelation, first: int | None, last: int | None) -> str:
        """Record the range of versions in a new table of group versions.

        The table begins a new history if it was rebuilt, if every row's version is later than the earlier table's first
        version, or if it has zero rows (then the next version is 1 again).

        Args:
            relation: The table.
            first: The smallest version in it; None if it is empty.
            last: The largest version.
        """
        name = _key(relation.schema, relation.identifier)
        publication = self._building.get(name, Publication())
        if publication.groups is not None:  # None without a folder warehouse
            begun = publication.groups["history"].partition(" ")[0] if last else ""
            groups = {"history": f"{begun or get_invocation_id()} {first or 0}", "since": 0, "upto": last or 0}
            self._building[name] = publication._replace(groups=groups)
        return ""

    @available
    def passing_result(self) -> agate.Table:
        """Return the result table that dbt expects from a passing test."""
        return agate_helper.table_from_data_flat(
            [{"failures": 0, "should_warn": False, "should_error": False}], ["failures", "should_warn", "should_error"]
        )

    @available
    def log_rebuild(self, name: str, reason: str) -> str:
        """Log why an existing table is rebuilt. Only the first table rebuilt for a reason is named.

        Args:
            name: The table's name.
            reason: The changed parts of its definition. `inputs` is not logged, because each changed input logs its own
                line.
        """
        if reason != INPUTS and reason not in self._logged_reasons:
            self._logged_reasons.add(reason)
            logger.info(f"Rebuilding {name}: its {reason} changed (more tables may be rebuilt for the same reason)")
        return ""

    def record_pass(self, node: Any, context: Mapping[str, Any]) -> None:
        """Record that a planned test passed, if it did."""
        plan = self._plans.get(node.unique_id)
        if plan is not None and plan.action != REUSE and passed(context):
            catalog = connection.catalog_of(self.config.credentials)
            definition = self._definitions.of(node.unique_id)
            PassedTests(catalog.warehouse).record(node.schema, node.unique_id, definition, plan)

    def publish_table(self, schema: str, name: str) -> None:
        """Publish a new table, or record that a published one was reused."""
        catalog, key = connection.catalog_of(self.config.credentials), _key(schema, name)
        if catalog is None:
            return
        publication = self._building.pop(key, Publication())
        if key in self._reused:
            self._reused.remove(key)
            catalog.warehouse.record_reuse(*key, get_invocation_id(), publication)
        else:
            catalog.publish(*key, get_invocation_id(), publication)
        with self._planning:  # `plan` reads and caches manifests under this lock
            self._manifests.pop(key, None)

    def _make_plan(self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool) -> Plan:
        catalog = connection.catalog_of(self.config.credentials)
        if catalog is None:
            return Plan(REBUILD)
        if self._planner is None:
            macros = self._macro_resolver.macros
            engine = "sail" if sail.is_sail(catalog.spark) else "spark"
            self._definitions = Definitions(nodes, macros, self._vars_of, engine)
            self._selected = set(selected)
            self._planner = Planner(nodes, self._definitions, self._manifest_of, self._selected, digest_input)
        if nodes[node_id]["resource_type"] == NodeType.Test:
            passes = PassedTests(catalog.warehouse)
            return passes.plan(self._planner, nodes[node_id], self._definitions.of(node_id), full_refresh)
        plan = self._planner.plan(node_id, full_refresh)
        is_rebuilt = plan.action == REBUILD and not full_refresh and not self._manifest_of(nodes[node_id])
        if is_rebuilt and catalog.warehouse.find(*_key(nodes[node_id]["schema"], nodes[node_id]["alias"])):
            return plan._replace(reason="files")
        return plan

    def _manifest_of(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        key = self._table_read(node)
        if key not in self._manifests:
            self._manifests[key] = connection.catalog_of(self.config.credentials).warehouse.trusted_manifest(*key)
        return self._manifests[key]

    def _table_read(self, node: Mapping[str, Any]) -> tuple[str, str]:
        """Return schema and name of the table that dbt reads for a node; with `--defer`, it may be the state's."""
        own = _key(node["schema"], node.get("alias") or node["name"])
        deferred, flags = node.get("defer_relation"), get_flags()
        if not deferred or not flags.DEFER or node["unique_id"] in self._selected:
            return own
        if not flags.FAVOR_STATE and connection.catalog_of(self.config.credentials).warehouse.find(*own):
            return own
        return _key(deferred["schema"], deferred["alias"])

    def _vars_of(self, node: Mapping[str, Any]) -> dict[str, Any]:
        of_package = self.config.vars.vars_for(SimpleNamespace(**node), self.type())
        return {**of_package, **self.config.cli_vars}


def passed(context: Mapping[str, Any]) -> bool:
    """Whether the test with this context passed; False if that is uncertain."""
    result = context["load_result"]("main")
    if not result:  # the test raised an error
        return False
    rows = [dict(zip(map(str.lower, row.keys()), row.values(), strict=True)) for row in result["table"].rows]
    if "unit" in context["model"]["resource_type"]:
        sides = {"actual": [], "expected": []}
        for row in rows:
            sides[row.pop("actual_or_expected")].append(repr(sorted(row.items())))
        return sorted(sides["actual"]) == sorted(sides["expected"])
    return len(rows) == 1 and not rows[0]["should_warn"] and not rows[0]["should_error"]


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()  # Spark's folder names are in lower case
