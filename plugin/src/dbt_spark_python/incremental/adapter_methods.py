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
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt_spark_python.incremental import earlier
from dbt_spark_python.incremental.definition import INPUTS, Definitions
from dbt_spark_python.incremental.passes import is_repeatable
from dbt_spark_python.incremental.plan import COMPLETE, MATERIALIZATION, REBUILD, REUSE, Plan, Planner
from dbt_spark_python.incremental.snapshot_tables import SnapshotTables
from dbt_spark_python.incremental.table_formats import FORMATS
from dbt_spark_python.input_files import Tail, digest_input, find_tails
from dbt_spark_python.session import connection
from dbt_spark_python.session.found_input import reads_this_disk
from dbt_spark_python.session.progress import logger
from dbt_spark_python.table_store.catalog import FolderCatalog, full_name
from dbt_spark_python.table_store.public_folders import Publication


class PlannedRuns(metaclass=AdapterMeta):
    """A part of the adapter: plans the nodes of a command, and publishes their tables with the origins that plans need.

    A materialization calls `plan` and `begin_table`. If groups are replaced, it adds the rows of the others by
    `add_kept_rows`; of a table of group versions it calls `record_versions`. The table is published when its node has
    succeeded.
    """

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._opened: FolderCatalog | SnapshotTables | None = None  # the tables, once their connection is open
        self._planner: Planner | None = None
        self._plans: dict[str, Plan] = {}  # plans of the command's nodes by node id
        self._planning = threading.Lock()
        self._selected: set[str] = set()  # the ids of the nodes that the command builds
        self._manifests: dict[tuple[str, str], Mapping[str, Any]] = {}  # manifests that were read already
        # Tables that are being built, until they are published.
        self._building: dict[tuple[str, str], Publication] = {}
        self._logged_reasons: set[str] = set()  # reasons that were logged
        self._figures: dict[str, list[int]] = {}  # results of `_count`

    @available
    def plan(
        self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool, incremental_from: int = 0
    ) -> dict[str, Any]:
        """Decide how the command, which builds the selected nodes, treats a node; see `incremental.plan`.

        Tables of groups are rebuilt in full if they are made from fewer lines than `incremental_from`, and all nodes if
        tables lack manifests. `holds` in the result says which rows the table has, if it has groups.
        """
        with self._planning:
            if node_id not in self._plans:
                self._plans[node_id] = self._make_plan(nodes, node_id, selected, full_refresh, incremental_from)
            holds = self._planner.holds(node_id) if self._planner else None
            return self._plans[node_id]._asdict() | {"holds": holds}

    @available
    def is_planned(self) -> bool:
        """Whether tables have manifests: in a warehouse of folders, or as tables of Iceberg or Delta Lake."""
        return self._tables is not None

    @available
    def replaces_in_place(self, relation: BaseRelation, file_format: str | None) -> bool:
        """Whether `create or replace` changes a table, which need not exist, in one commit; a view is dropped first."""
        existing, tables = self.get_relation(None, relation.schema, relation.identifier), self._tables
        is_view = existing is not None and existing.is_view
        is_of_snapshots = isinstance(tables, SnapshotTables) and not is_view
        return is_of_snapshots and tables.replaces_in_place(*_key_of(relation), file_format)

    @available
    def begin_table(
        self,
        relation: BaseRelation,
        node_id: str,
        key_columns: list[str] | None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Announce that a node's table is about to be built or reused, according to its plan.

        Changed rows are counted by their key columns, if these are given. `columns` are the key, the table of versions,
        its column and whether its rows are groups, as in `ChangedGroups`; None if all groups are built.
        """
        plan, publication, key = self._plans.get(node_id), Publication(key_columns=key_columns), _key_of(relation)
        if plan is not None:
            groups = {"history": plan.history, "since": plan.since, "upto": plan.upto}
            changed = None
            if columns:
                changed = self._changed_groups(columns, plan.since, self._planner.holds(node_id) == COMPLETE)
            publication = Publication(
                self._definitions.of(node_id), plan.inputs, groups, key_columns, changed, plan.action == REUSE
            )
            self._log_reason(relation.identifier, plan.reason)
        self._building[key] = publication

    def _changed_groups(self, columns: Mapping[str, Any], since: int, others_stay: bool) -> earlier.ChangedGroups:
        are_few = self.are_few_changed(columns["versions"], columns["column"], since)
        return earlier.ChangedGroups(**columns, since=since, are_few=are_few, others_stay=others_stay)

    def _log_reason(self, name: str, reason: str) -> None:
        """Log why an existing table is rebuilt. Only the first table for a reason is named.

        `inputs` is not logged, because each changed input logs its own line.
        """
        if reason not in ("", INPUTS) and reason not in self._logged_reasons:
            self._logged_reasons.add(reason)
            logger.info(f"Rebuilding {name}: its {reason} changed (more tables may be rebuilt for the same reason)")

    @available
    def name_read(self, node: Mapping[str, Any]) -> str:
        """Return the SQL name of the table that a planned node reads as this node; see `_table_read`."""
        return full_name(*self._table_read(node))

    @available
    def clone_table(self, relation: BaseRelation, source: BaseRelation) -> bool:
        """Copy an intact table of the warehouse with its origin for `dbt clone`; return whether the source is one."""
        warehouse = connection.catalog_of(self.config.credentials).warehouse
        key, other = _key_of(relation), _key_of(source)
        noted = warehouse.trusted_manifest(*other)
        if noted:
            warehouse.clear_leftovers(*key)
            warehouse.link_files(other, key)
            self._building[key] = Publication(noted.get("definition"), noted.get("inputs"), noted.get("groups"))
        return bool(noted)

    @available
    def maintain_table(self, relation: BaseRelation, keep_days: int | str) -> bool:
        """Merge small files of a table, and delete snapshots of more than some days; return whether its format can."""
        if not str(keep_days).isdecimal():
            raise DbtRuntimeError(f"keep_days must be a number of days, 0 or more, and not {keep_days!r}")
        tables = self._tables
        return isinstance(tables, SnapshotTables) and tables.maintain(*_key_of(relation), int(keep_days))

    @available
    def are_few_changed(self, versions: str, column: str, since: int) -> bool:
        """Whether so few groups have a later version, with so short keys, that joins broadcast these keys.

        The author of a log may choose long names for groups.
        """
        figures = f"count(*), coalesce(sum(length(cast({column} as string))), 0)"
        groups, characters = self._count(f"select {figures} from {versions} where version > {int(since)}")
        return groups <= earlier.MOST_BROADCAST_ROWS and characters <= earlier.MOST_BROADCAST_CHARACTERS

    @available
    def are_new_groups(self, relation: BaseRelation, columns: Mapping[str, Any], since: int) -> bool:
        """Whether each line is a group, and a published table has no row of a group with a later version.

        `columns` are those of `begin_table`.
        """
        return self._are_new(relation, self._changed_groups(columns, since, others_stay=True))

    def _are_new(self, relation: BaseRelation, changed: earlier.ChangedGroups) -> bool:
        return changed.are_lines and not self._count(changed.count_rows(str(relation)))[0]

    def _count(self, query: str) -> list[int]:
        """Return the figures in the row of a query over a table that does not change any more during the command."""
        if query not in self._figures:
            self._figures[query] = [int(each) for each in self.fetch_rows(query)[0]]
        return self._figures[query]

    @available
    def plan_python_model(self, relation: BaseRelation, is_continued: bool) -> None:
        """Tell a Python model its plan, and whether it continues from its earlier table; see `earlier.ModelPlan`."""
        key = _key_of(relation)
        if self._tables is not None:
            changed, tails = self._building[key].changed, self._find_tails(key) if is_continued else None
            kept = changed.kept_rows(str(relation), "kept.*") if changed and changed.others_stay else ""
            since, are_few = (changed.since, changed.are_few) if changed else (0, False)
            earlier.set_plan(relation, earlier.ModelPlan(since, are_few, bool(is_continued), kept, tails))

    def _find_tails(self, name: tuple[str, str]) -> list[Tail] | None:
        """Return `find_tails` of a table's log; None if another input has changed, too."""
        before, now = (self._tables.manifest_of(*name).get("inputs") or {}), (self._building[name].inputs or {})
        changed = [each for each in now if now[each] != before.get(each)]
        if before.keys() != now.keys() or len(changed) != 1:
            return None
        return find_tails(before[changed[0]], now[changed[0]])

    @available
    def add_kept_rows(self, relation: BaseRelation, new_relation: BaseRelation, query: str) -> str:
        """Add to the query for the rows of changed groups the rows of all other groups of the published table.

        If each line is a group and the published table has no row of a changed one, its rows may stay where they are:
        then the table is grown, and the query is for the new rows alone.
        """
        key = _key_of(relation)
        changed = self._building[key].changed
        names = ", ".join(column.quoted for column in self.get_columns_in_relation(relation))
        rows = f"select {names} from (\n{query}\n)"
        is_in_place = new_relation.identifier == relation.identifier
        if self._are_new(relation, changed) and (is_in_place or self._tables.warehouse.can_grow(*key)):
            self._building[key] = self._building[key]._replace(is_grown=True)
            return rows
        return f"{rows}\nunion all\n{changed.kept_rows(str(relation), names)}"

    @available
    def is_grown(self, relation: BaseRelation) -> bool:
        """Whether the rows of the published table stay where they are; see `add_kept_rows`."""
        return self._building[_key_of(relation)].is_grown

    @available
    def link_kept_rows(self, relation: BaseRelation, new_relation: BaseRelation) -> None:
        """Add the files of a published table to its next version, if the table is grown."""
        if self.is_grown(relation):
            self._tables.warehouse.link_files(_key_of(relation), _key_of(new_relation))

    @available
    def record_versions(self, relation: BaseRelation, first: int | None, last: int | None) -> None:
        """Record the smallest and the largest version in a new table of group versions; None if it is empty.

        The table begins a new history if it was rebuilt, if every row's version is later than the earlier table's first
        version, or if it has zero rows (then the next version is 1 again).
        """
        name = _key_of(relation)
        publication = self._building.get(name, Publication())
        if publication.groups is not None:  # None if tables have no manifests
            begun = publication.groups["history"].partition(" ")[0] if last else ""
            groups = {"history": f"{begun or get_invocation_id()} {first or 0}", "since": 0, "upto": last or 0}
            self._building[name] = publication._replace(groups=groups)

    @available
    def passes_again(self, nodes: Mapping[str, Any], test_id: str, query: str) -> bool:
        """Whether a test that is planned for reuse would pass again; if that is uncertain, it is planned to run."""
        test, plan = nodes[test_id], self._plans[test_id]
        tables = {full_name(*self._table_read(nodes[each])) for each in test["depends_on"]["nodes"] if each in nodes}
        if is_repeatable(query, tables) and self._tables.passes.has_query(test_id, query):
            return True
        self._plans[test_id] = plan._replace(action=REBUILD)
        return False

    @available
    def passing_result(self) -> agate.Table:
        """Return the result table that dbt expects from a passing test."""
        return agate_helper.table_from_data_flat(
            [{"failures": 0, "should_warn": False, "should_error": False}], ["failures", "should_warn", "should_error"]
        )

    @available
    def sibling_of(self, relation: BaseRelation) -> BaseRelation:
        """Return the relation beside a table under which its next version is written."""
        return relation.incorporate(path={"identifier": f"{relation.identifier}__next"}, type="table")

    def fetch_rows(self, sql: str) -> list[tuple]:
        """Return the rows of a query."""
        return [tuple(row.values()) for row in self.execute(sql, fetch=True)[1].rows]

    def record_pass(self, node: Any, context: Mapping[str, Any]) -> None:
        """Record that a planned test passed, if it did."""
        plan = self._plans.get(node.unique_id)
        if plan is not None and plan.action != REUSE and self._tables.passes is not None and passed(context):
            definition = self._definitions.of(node.unique_id)
            self._tables.passes.record(node.schema, node.unique_id, definition, plan, node.compiled_code)

    def publish_table(self, schema: str, name: str) -> None:
        """Publish a new table, or record that a published one was reused."""
        tables, key = self._tables, _key(schema, name)
        if tables is None:
            return
        publication = self._building.pop(key, Publication())
        if publication.is_reused:
            if tables.records_reuse:
                tables.warehouse.record_reuse(*key, get_invocation_id(), publication)
        else:
            tables.publish(*key, get_invocation_id(), publication)
        with self._planning:  # `plan` reads and caches manifests under this lock
            self._manifests.pop(key, None)

    @property
    def _tables(self) -> FolderCatalog | SnapshotTables | None:
        """Return the tables of the profile's warehouse; None if they have no manifests, or without a connection."""
        if self._opened is None:
            self._opened = self._open_tables()
        return self._opened

    def _open_tables(self) -> FolderCatalog | SnapshotTables | None:
        credentials = self.config.credentials
        if catalog := connection.catalog_of(credentials):
            return catalog
        nodes = getattr(self._macro_resolver, "nodes", {}).values()
        if connection.WAREHOUSE in (credentials.server_side_parameters or {}) or not any(map(_keeps_snapshots, nodes)):
            return None

        def names(schema: str) -> list[str]:
            return [relation.identifier.lower() for relation in self.list_relations(None, schema) if relation.is_table]

        def find_session() -> Any:
            return connection.python_session(credentials) if connection.has_session(credentials) else None

        return SnapshotTables(self.fetch_rows, names, find_session)

    def _make_plan(
        self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool, incremental_from: int
    ) -> Plan:
        tables, node = self._tables, nodes[node_id]
        if tables is None:
            return Plan(REBUILD)
        if self._planner is None:
            self._definitions = Definitions(nodes, self._macro_resolver.macros, self._vars_of, tables.engine)
            self._selected = set(selected)
            # The engine may read other files than this machine's: then no input has a digest.
            digest = digest_input if reads_this_disk(tables.session) else lambda path, name, before: None

            def is_small(node_ids: list[str]) -> bool:
                names = [full_name(*self._table_read(nodes[each])) for each in node_ids]
                return sum(self._count(f"select count(*) from {name}")[0] for name in names) < incremental_from

            self._planner = Planner(nodes, self._definitions, self._manifest_of, self._selected, digest, is_small)
        if node["resource_type"] == NodeType.Test:
            if tables.passes is None:
                return Plan(REBUILD)
            return tables.passes.plan(self._planner, node, self._definitions.of(node_id), full_refresh)
        plan = self._planner.plan(node_id, full_refresh)
        is_rebuilt = plan.action == REBUILD and not full_refresh and not self._manifest_of(node)
        if is_rebuilt and tables.exists(*_key(node["schema"], node["alias"])):
            return plan._replace(reason="files" if tables.records_reuse else "snapshot")
        return plan

    def _manifest_of(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        key = self._table_read(node)
        if key not in self._manifests:
            self._manifests[key] = self._tables.manifest_of(*key)
        return self._manifests[key]

    def _table_read(self, node: Mapping[str, Any]) -> tuple[str, str]:
        """Return schema and name of the table that dbt reads for a node; with `--defer`, it may be the state's."""
        own = _key(node["schema"], node.get("alias") or node["name"])
        deferred, flags = node.get("defer_relation"), get_flags()
        if not deferred or not flags.DEFER or node["unique_id"] in self._selected:
            return own
        if not flags.FAVOR_STATE and self._tables.exists(*own):
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
    return len(rows) == 1 and not rows[0]["should_warn"] and not rows[0]["should_error"]


def _key_of(relation: BaseRelation) -> tuple[str, str]:
    return _key(relation.schema, relation.identifier)


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()  # Spark's folder names are in lower case


def _keeps_snapshots(node: Any) -> bool:
    """Whether a node is planned and its table format keeps snapshots."""
    return node.config.materialized == MATERIALIZATION and node.config.get("file_format") in FORMATS
