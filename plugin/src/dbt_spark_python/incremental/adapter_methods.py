"""The adapter's methods for planned incremental runs, which materializations call; see `incremental.plan`."""

import json
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
from pyspark.sql import functions as sf

from dbt_spark_python.incremental.definition import INPUTS, Definitions
from dbt_spark_python.incremental.earlier import (
    MOST_BROADCAST_CHARACTERS,
    MOST_BROADCAST_ROWS,
    kept_view_name,
    plan_view_name,
)
from dbt_spark_python.incremental.folder_tables import FolderTables
from dbt_spark_python.incremental.plan import MATERIALIZATION, REBUILD, REUSE, Plan, Planner
from dbt_spark_python.incremental.snapshot_tables import SnapshotTables
from dbt_spark_python.incremental.table_formats import FORMATS
from dbt_spark_python.incremental.tables import ChangedGroups, PlannedTables, Replacement
from dbt_spark_python.input_files import digest_input, find_tails
from dbt_spark_python.session import connection
from dbt_spark_python.session.found_input import reads_this_disk
from dbt_spark_python.session.progress import logger
from dbt_spark_python.table_store.catalog import full_name, quoted
from dbt_spark_python.table_store.public_folders import Publication


class PlannedRuns(metaclass=AdapterMeta):
    """A part of the adapter: plans the nodes of a command, and publishes their tables with the origins that plans need.

    A materialization calls `plan`, then `begin_table`, and then `reuse_table`, or `begin_replacement` and
    `finish_replacement`, or `record_versions`. The table is published when its node has succeeded.
    """

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._opened: PlannedTables | None = None  # the tables, once their connection is open
        self._planner: Planner | None = None
        self._plans: dict[str, Plan] = {}  # plans of the command's nodes by node id
        self._planning = threading.Lock()
        self._selected: set[str] = set()  # the ids of the nodes that the command builds
        self._manifests: dict[tuple[str, str], Mapping[str, Any]] = {}  # manifests that were read already
        # Tables that are being built, until they are published.
        self._building: dict[tuple[str, str], Publication] = {}
        self._replacing: dict[tuple[str, str], Replacement] = {}  # replacements that have begun
        self._reused: set[tuple[str, str]] = set()  # tables that are reused, until they are published
        self._logged_reasons: set[str] = set()  # reasons that were logged
        # Whether few groups have changed, by the arguments of `are_few_changed`.
        self._few_changed: dict[tuple[str, str, int], bool] = {}
        self._row_counts: dict[str, int] = {}  # by the table's name

    @available
    def plan(
        self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool, incremental_from: int = 0
    ) -> dict[str, Any]:
        """Decide how the command treats a node; see `incremental.plan`.

        Args:
            nodes: The nodes of dbt's graph.
            node_id: The node's id.
            selected: The ids of the nodes that the command builds.
            full_refresh: Rebuild the node in any case.
            incremental_from: Tables of groups are rebuilt in full if they are made from fewer lines than this: rows of
                tables with `row_versions` in their meta.

        Returns:
            The fields of the plan, and `holds`: which rows the table has, if it has groups.
            Every node is rebuilt if tables lack manifests.
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
    def records_reuse(self) -> bool:
        """Whether manifests name the last run that reused a table."""
        return self._tables is not None and self._tables.records_reuse

    @available
    def replaces_in_place(self, relation: BaseRelation, file_format: str | None) -> bool:
        """Whether `create or replace` changes a table in one commit, so that its query may read the table itself.

        A view has to be dropped first.

        Args:
            relation: The table, which need not exist.
            file_format: The file format of its next version.
        """
        name = _key(relation.schema, relation.identifier)
        existing = self.get_relation(relation.database, relation.schema, relation.identifier)
        is_view = existing is not None and existing.is_view
        return self._tables is not None and not is_view and self._tables.replaces_in_place(*name, file_format)

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
    def maintain_table(self, relation: BaseRelation, keep_days: int | str) -> bool:
        """Merge small files of a table, and delete its old snapshots; see `tables.PlannedTables.maintain`.

        Args:
            relation: The table.
            keep_days: Snapshots of the last days that are kept.

        Returns:
            Whether the table exists and has a format with snapshots.
        """
        if not str(keep_days).isdecimal():
            raise DbtRuntimeError(f"keep_days must be a number of days, 0 or more, and not {keep_days!r}")
        name = _key(relation.schema, relation.identifier)
        return self._tables is not None and self._tables.maintain(*name, int(keep_days))

    @available
    def are_few_changed(self, versions: str, column: str, since: int) -> bool:
        """Whether so few groups with so short keys have changed that joins broadcast these keys.

        Args:
            versions: The table of group versions, which does not change any more during the command.
            column: Its column that names a group. The author of a log may choose long names.
            since: Groups with a later version have changed.
        """
        key = str(versions), column, int(since)
        if key not in self._few_changed:
            figures = f"count(*), coalesce(sum(length(cast({column} as string))), 0)"
            counted = self.execute(f"select {figures} from {key[0]} where version > {key[2]}", fetch=True)[1]
            groups, characters = map(int, counted.rows[0])
            self._few_changed[key] = groups <= MOST_BROADCAST_ROWS and characters <= MOST_BROADCAST_CHARACTERS
        return self._few_changed[key]

    @available
    def set_plan_view(self, relation: BaseRelation, columns: Mapping[str, str] | None, has_earlier_rows: bool) -> str:
        """Tell a Python model its plan, after `begin_replacement`; see `earlier.plan_view_name`.

        Args:
            relation: The table.
            columns: The key, the table of versions and its column, as in `ChangedGroups`; None if all groups are built.
            has_earlier_rows: Whether the model continues from its own earlier table.
        """
        if self._tables is not None and (session := self._tables.session) is not None:
            groups = self._changed_groups(relation, columns) if columns else None
            name = _key(relation.schema, relation.identifier)
            replacement = self._replacing.get(name)
            values = {
                "since": groups.since if groups else 0,
                "are_few": groups is not None and groups.are_few,
                "has_earlier_rows": bool(has_earlier_rows),
                "has_kept_rows": replacement is not None and replacement.kept is not None,
                "tails": self._find_tails(name) if has_earlier_rows else "",
            }
            row = session.range(1).select(*(sf.lit(value).alias(column) for column, value in values.items()))
            row.createOrReplaceTempView(plan_view_name(relation))
        return ""

    def _find_tails(self, name: tuple[str, str]) -> str:
        """Write `find_tails` of a table's log as JSON; empty if it is None, or another input has changed, too."""
        before, now = (self._tables.manifest_of(*name).get("inputs") or {}), (self._building[name].inputs or {})
        changed = [each for each in now if now[each] != before.get(each)]
        if before.keys() != now.keys() or len(changed) != 1:
            return ""
        tails = find_tails(before[changed[0]], now[changed[0]])
        return "" if tails is None else json.dumps(tails)

    @available
    def reuse_table(self, relation: BaseRelation) -> str:
        """Mark a table as reused; call `begin_table` first."""
        self._reused.add(_key(relation.schema, relation.identifier))
        return ""

    @available
    def begin_replacement(self, relation: BaseRelation, columns: Mapping[str, str]) -> str:
        """Begin to replace the rows of changed groups in a complete table; see `tables.Replacement`.

        Args:
            relation: The published table.
            columns: The key, the table of versions and its column, as in `ChangedGroups`.
        """
        name = _key(relation.schema, relation.identifier)
        groups = self._changed_groups(relation, columns)
        replacement = self._replacing[name] = self._tables.begin_replacement(name, groups)
        if replacement.kept is not None:
            replacement.kept.createOrReplaceTempView(kept_view_name(relation))
        return ""

    @available
    def add_kept_rows(self, relation: BaseRelation, query: str) -> str:
        """Add to the query for the new rows the kept rows of a replacement, if the new table has to contain them."""
        kept = self._replacing[_key(relation.schema, relation.identifier)].kept
        if kept is None:
            return query
        names = ", ".join(map(quoted, kept.columns))
        return f"select {names} from (\n{query}\n)\nunion all\nselect {names} from {kept_view_name(relation)}"

    @available
    def finish_replacement(self, relation: BaseRelation, made: BaseRelation) -> str:
        """End a replacement: the new table becomes the complete table, or its rows replace those of changed groups.

        Args:
            relation: The published table.
            made: The new table.
        """
        name = _key(relation.schema, relation.identifier)
        publication = self._building[name]
        changes = self._replacing.pop(name).finish(made.identifier, publication.key_columns)
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
        if publication.groups is not None:  # None if tables have no manifests
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
            self._tables.passes.record(node.schema, node.unique_id, self._definitions.of(node.unique_id), plan)

    def publish_table(self, schema: str, name: str) -> None:
        """Publish a new table, or record that a published one was reused."""
        tables, key = self._tables, _key(schema, name)
        if tables is None:
            return
        publication = self._building.pop(key, Publication())
        if key in self._reused:
            self._reused.remove(key)
            tables.record_reuse(*key, get_invocation_id(), publication)
        else:
            tables.publish(*key, get_invocation_id(), publication)
        with self._planning:  # `plan` reads and caches manifests under this lock
            self._manifests.pop(key, None)

    @property
    def _tables(self) -> PlannedTables | None:
        """Return the tables of the profile's warehouse; None if they have no manifests, or without a connection."""
        if self._opened is None:
            self._opened = self._open_tables()
        return self._opened

    def _open_tables(self) -> PlannedTables | None:
        credentials = self.config.credentials
        if catalog := connection.catalog_of(credentials):
            return FolderTables(catalog)
        nodes = getattr(self._macro_resolver, "nodes", {}).values()
        if connection.WAREHOUSE in (credentials.server_side_parameters or {}) or not any(map(_keeps_snapshots, nodes)):
            return None

        def names(schema: str) -> list[str]:
            return [relation.identifier.lower() for relation in self.list_relations(None, schema) if relation.is_table]

        def find_session() -> Any:
            return connection.python_session(credentials) if connection.has_session(credentials) else None

        return SnapshotTables(self.fetch_rows, names, find_session)

    def _changed_groups(self, relation: BaseRelation, columns: Mapping[str, str]) -> ChangedGroups:
        since = self._building[_key(relation.schema, relation.identifier)].groups["since"]
        are_few = self.are_few_changed(columns["versions"], columns["column"], since)
        return ChangedGroups(**columns, since=since, are_few=are_few)

    def _make_plan(
        self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool, incremental_from: int
    ) -> Plan:
        tables, node = self._tables, nodes[node_id]
        if tables is None:
            return Plan(REBUILD)
        if self._planner is None:
            self._definitions = Definitions(nodes, self._macro_resolver.macros, self._vars_of, tables.engine)
            self._selected = set(selected)
            digest = digest_input if reads_this_disk(tables.session) else _leave_undigested

            def is_small(node_ids: list[str]) -> bool:
                return sum(self._count_rows(nodes[each]) for each in node_ids) < incremental_from

            self._planner = Planner(nodes, self._definitions, self._manifest_of, self._selected, digest, is_small)
        if node["resource_type"] == NodeType.Test:
            if tables.passes is None:
                return Plan(REBUILD)
            return tables.passes.plan(self._planner, node, self._definitions.of(node_id), full_refresh)
        plan = self._planner.plan(node_id, full_refresh)
        is_rebuilt = plan.action == REBUILD and not full_refresh and not self._manifest_of(node)
        if is_rebuilt and tables.exists(*_key(node["schema"], node["alias"])):
            return plan._replace(reason=tables.evidence)
        return plan

    def _count_rows(self, node: Mapping[str, Any]) -> int:
        """Count the rows of a table, which does not change any more during the command."""
        name = ".".join(self._table_read(node))
        if name not in self._row_counts:
            self._row_counts[name] = int(self.execute(f"select count(*) from {name}", fetch=True)[1].rows[0][0])
        return self._row_counts[name]

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


def _leave_undigested(path: str, name: str) -> None:
    """Digest no input: the engine reads other files than this machine's."""


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()  # Spark's folder names are in lower case


def _keeps_snapshots(node: Any) -> bool:
    """Whether a node is planned and its table format keeps snapshots."""
    return node.config.materialized == MATERIALIZATION and node.config.get("file_format") in FORMATS
