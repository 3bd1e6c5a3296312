"""Extends dbt-spark's adapter: Python models on sessions, folder warehouses, planned incremental runs."""

import hashlib
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import agate
from dbt.adapters.base import BaseRelation, PythonJobHelper
from dbt.adapters.base.meta import available
from dbt.adapters.spark import impl
from dbt.artifacts.resources.types import NodeType
from dbt_common.clients import agate_helper
from dbt_common.invocation import get_invocation_id

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.definition import INPUTS, Definitions
from dbt_spark_python.incremental.earlier import changed_groups, since_view_name
from dbt_spark_python.incremental.fixpoint import Fixpoint, Names, Spec
from dbt_spark_python.incremental.fixpoint_stores import SessionStore, TableStore
from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.incremental.plan import COMPLETE, REBUILD, REUSE, VERSIONS, WORKING_SET, Plan, Planner
from dbt_spark_python.incremental.replace import replace_groups
from dbt_spark_python.input_files import digest_input
from dbt_spark_python.python_model import workers
from dbt_spark_python.python_model.checkpoint_retry import retry_lost_rows
from dbt_spark_python.python_model.submit import SessionPythonJob
from dbt_spark_python.session import connection, error_translation
from dbt_spark_python.session.progress import logger
from dbt_spark_python.session.shell import shown_command, shown_path
from dbt_spark_python.table_store.public_folders import Publication
from dbt_spark_python.var_names import COMMAND_LINE, PROJECT, find_unknown, names_of_others

SUBMISSION_METHOD = "session"

#: In a node's `meta`: true if only the owner may read its table in a folder warehouse.
OWNER_ONLY = "owner_only"

# Materializations that never add rows to their existing table. All others may read and extend it.
_WITHOUT_EARLIER_ROWS = frozenset(
    {"fixpoint", "create_if_missing", "seed", "table", "test", "unit", "view", COMPLETE, VERSIONS, WORKING_SET}
)


class SparkAdapter(impl.SparkAdapter):  # dbt derives the adapter's name from the class name
    """dbt-spark's adapter with the plugin's additions; all other behaviour is dbt-spark's."""

    ConnectionManager = connection.SessionConnections

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        connection.read_small_run(config.credentials, {**config.vars.to_dict(), **config.cli_vars})
        self._planner: Planner | None = None
        self._plans: dict[str, Plan] = {}  # plans of the command's nodes by node id
        self._planning = threading.Lock()
        self._manifests: dict[tuple[str, str], Mapping[str, Any]] = {}  # manifests that were read already
        # Tables that are being built, until they are published.
        self._building: dict[tuple[str, str], Publication] = {}
        self._reused: set[tuple[str, str]] = set()  # tables that are reused, until they are published
        self._logged_reasons: set[str] = set()  # reasons that were logged

    @property
    def python_submission_helpers(self) -> dict[str, type[PythonJobHelper]]:
        """Return dbt-spark's submission methods and `session`."""
        return {**super().python_submission_helpers, SUBMISSION_METHOD: SessionPythonJob}

    @property
    def default_python_submission_method(self) -> str:
        """Return `session`; for Databricks profiles, dbt-spark's own default."""
        return super().default_python_submission_method if self.config.credentials.token else SUBMISSION_METHOD

    def pre_model_hook(self, config: Mapping[str, Any]) -> Any:
        """Prepare the folder where a node's table will be written; return the node."""
        node = config.model
        if node.resource_type == NodeType.Unit and (session := connection.unit_test_session()):
            self.connections.get_thread_connection().handle = error_translation.handle(session)
        catalog = connection.catalog_of(self.config.credentials)
        if catalog and makes_table(node):
            catalog.warehouse.mark_owner_only(node.schema, node.alias, bool(node.config.meta.get(OWNER_ONLY)))
            if node.get_materialization() not in _WITHOUT_EARLIER_ROWS:
                catalog.checkout(node.schema, node.alias)
            else:
                catalog.detach(node.schema, node.alias)
            catalog.clear_leftovers(node.schema, node.alias)
        return node

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Publish a test's stored failures, and record that the test passed.

        Tables of other nodes are published in `cache_added`.
        """
        node = context
        if node.resource_type == NodeType.Unit and connection.unit_test_session():
            self.connections.get_thread_connection().handle = error_translation.handle(connection.process_session())
        if node.resource_type in (NodeType.Test, NodeType.Unit):
            if makes_table(node):
                self._publish_table(node.schema, node.alias)
            plan = self._plans.get(node.unique_id)
            if plan is not None and plan.action != REUSE and passed(config):  # a test's config is its whole context
                catalog = connection.catalog_of(self.config.credentials)
                definition = self._definitions.of(node.unique_id)
                PassedTests(catalog.warehouse).record(node.schema, node.unique_id, definition, plan)

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Add a relation to dbt's cache; publish it if a node has just created it."""
        if relation is not None and relation.dbt_created:
            self._publish_table(relation.schema, relation.identifier)
        return super().cache_added(relation)

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

    def _make_plan(self, nodes: Mapping[str, Any], node_id: str, selected: list[str], full_refresh: bool) -> Plan:
        catalog = connection.catalog_of(self.config.credentials)
        if catalog is None:
            return Plan(REBUILD)
        if self._planner is None:
            macros = self._macro_resolver.macros
            engine = "sail" if sail.is_sail(catalog.spark) else "spark"
            self._definitions = Definitions(nodes, macros, self._vars_of, engine)
            self._planner = Planner(nodes, self._definitions, self._manifest_of, set(selected), digest_input)
        if nodes[node_id]["resource_type"] == NodeType.Test:
            passes = PassedTests(catalog.warehouse)
            return passes.plan(self._planner, nodes[node_id], self._definitions.of(node_id), full_refresh)
        plan = self._planner.plan(node_id, full_refresh)
        is_rebuilt = plan.action == REBUILD and not full_refresh and not self._manifest_of(nodes[node_id])
        if is_rebuilt and catalog.warehouse.find(*_key(nodes[node_id]["schema"], nodes[node_id]["alias"])):
            return plan._replace(reason="files")
        return plan

    def _manifest_of(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        key = _key(node["schema"], node.get("alias") or node["name"])
        if key not in self._manifests:
            self._manifests[key] = connection.catalog_of(self.config.credentials).warehouse.trusted_manifest(*key)
        return self._manifests[key]

    def _vars_of(self, node: Mapping[str, Any]) -> dict[str, Any]:
        of_package = self.config.vars.vars_for(SimpleNamespace(**node), self.type())
        return {**of_package, **self.config.cli_vars}

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

    def create_schema(self, relation: BaseRelation) -> None:
        """Create a schema; in a folder warehouse, at the place of this process's new tables."""
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.make_schema(relation.schema)
        super().create_schema(relation)

    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a table or view, and delete the files of a new table, which some engines leave behind."""
        super().drop_relation(relation)
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.clear_leftovers(relation.schema, relation.identifier)

    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """Rename a table."""
        catalog = connection.catalog_of(self.config.credentials)
        if catalog and sail.is_sail(catalog.spark):
            if catalog.rename(from_relation.schema, from_relation.identifier, to_relation.identifier):
                return
            sail.copy(catalog.spark, str(from_relation), str(to_relation))
            self.drop_relation(from_relation)
        else:
            super().rename_relation(from_relation, to_relation)

    @available
    def find_unknown_vars(self, package: str, known: list[str], codes: list[str]) -> list[dict[str, str]]:
        """Find var names that are set for a package and that it does not define; see `var_names.find_unknown`.

        Args:
            package: The package.
            known: The names that it defines.
            codes: The code of other packages' nodes; the code of their macros is found here.
        """
        others = None
        if package != self.config.project_name:
            macros = self.get_macro_resolver().macros.values()
            codes = [*codes, *(macro.macro_sql for macro in macros if macro.package_name != package)]
            others = names_of_others(package, self.config, codes)
        given = {COMMAND_LINE: self.config.cli_vars, PROJECT: self.config.vars.to_dict()}
        return find_unknown(package, known, given, others)

    @available
    def check_python_models(self, models: list[Mapping[str, Any]]) -> str:
        """Refuse a run, before its first model, if its Python models lack a session or a package on a worker.

        Args:
            models: The selected Python models, each with its `name` and its config `packages`.
        """
        workers.check(self.config.credentials, models)
        return ""

    @available
    def publish(self, relation: BaseRelation) -> str:
        """Publish a table that a hook or operation created. Only folder warehouses need this."""
        self._publish_table(relation.schema, relation.identifier)
        return ""

    @available
    def run_fixpoint(
        self, relation: BaseRelation, queries: list[str], names: dict[str, str], spec: dict[str, Any], statement: str
    ) -> str:
        """Run the rounds of a `fixpoint` model and create its table; see `fixpoint.Fixpoint`.

        Args:
            relation: The table.
            queries: The base query, the step query and, optionally, the query for the rows that still wait.
            names: The placeholders for stored rows, as in `fixpoint.Names`, and `result`.
            spec: The limits of the rounds, as in `fixpoint.Spec`.
            statement: Creates the table; `names["result"]` in it stands for the query for the settled rows.
        """
        result = names.pop("result")

        def execute(sql: str) -> list:
            _, table = self.execute(sql, fetch=True)
            return [tuple(row.values()) for row in table.rows]

        def make() -> None:
            if self.config.credentials.method == "session":
                name = hashlib.sha256(str(relation).encode()).hexdigest()[:16]
                store = SessionStore(connection.python_session(self.config.credentials), f"fixpoint_{name}")
            else:
                store = TableStore(execute, str(relation), "parquet")
            rounds = Fixpoint(
                store, queries, Names(**names), Spec(**spec), lambda line: logger.info(f"{relation.identifier}: {line}")
            )
            try:
                self.execute(statement.replace(result, rounds.run()))
            finally:
                rounds.drop()

        retry_lost_rows(make, relation.identifier)
        return ""

    @available
    def published(self, schema: str) -> list[dict[str, Any]] | None:
        """Return the published tables of a schema, if it is in a folder warehouse.

        Each has its `name`; `run_id`, the last run that built or reused it; `built_at`; `changed_in`, the run that last
        changed its rows; and `changes`, the row counts of that change, if they were counted.
        """
        catalog = connection.catalog_of(self.config.credentials)
        if catalog is None:
            return None
        return [
            {key: getattr(table, key) for key in ("name", "run_id", "built_at", "changed_in", "changes")}
            for table in catalog.warehouse.published(schema.lower())
        ]

    @available
    def warehouse_path(self) -> str | None:
        """Return the folder of the warehouse, if it is one of folders, for messages."""
        catalog = connection.catalog_of(self.config.credentials)
        return None if catalog is None else shown_path(catalog.warehouse.root)

    @available
    def shown_command(self, *words: str) -> str:
        """Write a command of this environment as a shell takes it, for messages."""
        return shown_command(words)

    def cleanup_connections(self) -> None:
        """Close the connections at the end of a command, and release the warehouse."""
        super().cleanup_connections()
        connection.release_warehouse()

    def _publish_table(self, schema: str, name: str) -> None:
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


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()  # Spark's folder names are in lower case


def makes_table(node: Any) -> bool:
    """Whether a node writes a table; a test does if it stores its failures."""
    return node.resource_type not in (NodeType.Test, NodeType.Unit) or node.should_store_failures


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
