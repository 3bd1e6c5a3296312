"""The Spark adapter with Python models on sessions, and with a warehouse of folders where the profile asks for one."""

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
from dbt_spark_python.incremental.earlier import changed_groups, since_view
from dbt_spark_python.incremental.fixpoint import Fixpoint, Names, SessionStore, Spec, TableStore
from dbt_spark_python.incremental.passes import Passes
from dbt_spark_python.incremental.plan import COMPLETE, LINES, REBUILD, REUSE, VERSIONS, WORKING_SET, Plan, Planner
from dbt_spark_python.incremental.replace import replace_groups
from dbt_spark_python.local_files import digest_log
from dbt_spark_python.python_model import workers
from dbt_spark_python.python_model.checkpoint_retry import over_lost_rows
from dbt_spark_python.python_model.submit import SessionPythonJob
from dbt_spark_python.session import connection, error_translation
from dbt_spark_python.session.progress import logger
from dbt_spark_python.session.shell import shown_command, shown_path
from dbt_spark_python.table_store.warehouse import Publication
from dbt_spark_python.var_names import COMMAND_LINE, PROJECT, find_unknown, names_of_others

SUBMISSION_METHOD = "session"

#: In a node's `meta`: true where its table, in a warehouse of folders, is for nobody but its owner to read.
OWNER_ONLY = "owner_only"

# These write no row into a table that is there; any other materialization may go on from what is there.
_NOT_GOING_ON = frozenset(
    {"fixpoint", "kept", "seed", "table", "test", "unit", "view", COMPLETE, LINES, VERSIONS, WORKING_SET}
)


class SparkAdapter(impl.SparkAdapter):  # dbt makes the name of the adapter from the name of the class
    """dbt-spark's adapter; what it adds is here, and every other behaviour is dbt-spark's."""

    ConnectionManager = connection.SessionConnections

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        connection.choose(config.credentials, {**config.vars.to_dict(), **config.cli_vars})
        self._planner: Planner | None = None
        self._plans: dict[str, Plan] = {}  # of the command's nodes, by their ids
        self._planning = threading.Lock()
        self._manifests: dict[tuple[str, str], Mapping[str, Any]] = {}  # as they are read
        # Of tables that are being made, until they are published.
        self._building: dict[tuple[str, str], Publication] = {}
        self._kept: set[tuple[str, str]] = set()  # the tables that are reused, likewise
        self._said: set[str] = set()  # why tables are rebuilt

    @property
    def python_submission_helpers(self) -> dict[str, type[PythonJobHelper]]:
        """dbt-spark's submission methods, and `session`."""
        return {**super().python_submission_helpers, SUBMISSION_METHOD: SessionPythonJob}

    @property
    def default_python_submission_method(self) -> str:
        """`session`, unless the profile is of Databricks, for which dbt-spark has its own."""
        return super().default_python_submission_method if self.config.credentials.token else SUBMISSION_METHOD

    def pre_model_hook(self, config: Mapping[str, Any]) -> Any:
        """Prepare the place where a node's table is going to be written; returns the node."""
        node = config.model
        if node.resource_type == NodeType.Unit and (session := connection.of_unit_tests()):
            self.connections.get_thread_connection().handle = error_translation.handle(session)
        catalog = connection.catalog_of(self.config.credentials)
        if catalog and makes_table(node):
            catalog.warehouse.mark_owner_only(node.schema, node.alias, bool(node.config.meta.get(OWNER_ONLY)))
            if node.get_materialization() not in _NOT_GOING_ON:
                catalog.checkout(node.schema, node.alias)
            else:
                catalog.part(node.schema, node.alias)
            catalog.make_room(node.schema, node.alias)
        return node

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Publish the failures that a test stored; what other nodes make is published when they have succeeded."""
        node = context
        if node.resource_type == NodeType.Unit and connection.of_unit_tests():
            self.connections.get_thread_connection().handle = error_translation.handle(connection.of_process())
        if node.resource_type in (NodeType.Test, NodeType.Unit):
            if makes_table(node):
                self._publish(node.schema, node.alias)
            plan = self._plans.get(node.unique_id)
            if plan is not None and plan.action != REUSE and passed(config):  # of a test it is the whole context
                catalog = connection.catalog_of(self.config.credentials)
                definition = self._definitions.of(node.unique_id)
                Passes(catalog.warehouse).note(node.schema, node.unique_id, definition, plan)

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Note a new relation; one that a node made, and that is complete, is published."""
        if relation is not None and relation.dbt_created:
            self._publish(relation.schema, relation.identifier)
        return super().cache_added(relation)

    @available
    def plan(self, nodes: Mapping[str, Any], node_id: str, selected: list[str], anew: bool) -> dict[str, Any]:
        """Decide what the command does with a node; see `incremental.plan`.

        Args:
            nodes: The nodes of dbt's graph.
            node_id: The node's id.
            selected: The ids of the nodes that the command builds.
            anew: The node is made in full in any case.

        Returns:
            The parts of the plan by their names. Where tables are not in folders everything is rebuilt.
        """
        with self._planning:
            if node_id not in self._plans:
                self._plans[node_id] = self._make_plan(nodes, node_id, selected, anew)
            return self._plans[node_id]._asdict()

    @available
    def is_planned(self) -> bool:
        """Whether tables are in folders, so that their manifests tell what they were built from."""
        return connection.catalog_of(self.config.credentials) is not None

    @available
    def begin_table(self, relation: BaseRelation, node_id: str, grain: list[str] | None) -> str:
        """Note that a node's table is about to be made, or reused, as `plan` has it.

        Args:
            relation: The table.
            node_id: The node's id.
            grain: The columns by which a row is the same one; None where changes are not counted.
        """
        plan, publication = self._plans.get(node_id), Publication(grain=grain)
        if plan is not None:
            groups = {"history": plan.history, "since": plan.since, "upto": plan.upto}
            publication = Publication(self._definitions.of(node_id), plan.inputs, groups, grain)
        self._building[_key(relation.schema, relation.identifier)] = publication
        return ""

    @available
    def show_since(self, relation: BaseRelation, since: int) -> str:
        """Let a Python model know since which version its groups are made again; see `earlier.only_changed`.

        Args:
            relation: The table.
            since: The version; 0 where all groups are made.
        """
        if catalog := connection.catalog_of(self.config.credentials):
            view = since_view(relation)
            if since:
                catalog.spark.sql(f"select {int(since)} as since").createOrReplaceTempView(view)
            elif catalog.spark.catalog.tableExists(view):  # of an earlier command in this process
                catalog.spark.catalog.dropTempView(view)
        return ""

    @available
    def keep_table(self, relation: BaseRelation) -> str:
        """Reuse a table; behind `begin_table`."""
        self._kept.add(_key(relation.schema, relation.identifier))
        return ""

    @available
    def replace_groups(self, relation: BaseRelation, made: BaseRelation, key: str, versions: str, column: str) -> str:
        """Complete a table of the rows of changed groups by the other rows; see `incremental.replace`.

        Args:
            relation: The table as it is published.
            made: The new table, with the rows of groups of later versions than those that the published one has.
            key: The SQL expression of a row's group.
            versions: The table with the versions.
            column: The column there that names a group.
        """
        catalog = connection.catalog_of(self.config.credentials)
        name = _key(relation.schema, relation.identifier)
        publication = self._building[name]
        groups = changed_groups(catalog.spark.table(versions), publication.groups["since"], column)
        changes = replace_groups(catalog, name, made.identifier, key, groups, publication.grain)
        self._building[name] = publication._replace(changes=changes)
        return ""

    @available
    def note_versions(self, relation: BaseRelation, first: int | None, last: int | None) -> str:
        """Note the versions in a new table of group versions.

        A rebuilt table begins a new history. So do one in which no row has an earlier table's first version, and one
        without rows, whose next version is the first again.

        Args:
            relation: The table.
            first: The first version in it; None where it has no rows.
            last: The last.
        """
        name = _key(relation.schema, relation.identifier)
        publication = self._building.get(name, Publication())
        if publication.groups is not None:  # else tables are not in folders
            begun = publication.groups["history"].partition(" ")[0] if last else ""
            groups = {"history": f"{begun or get_invocation_id()} {first or 0}", "since": 0, "upto": last or 0}
            self._building[name] = publication._replace(groups=groups)
        return ""

    def _make_plan(self, nodes: Mapping[str, Any], node_id: str, selected: list[str], anew: bool) -> Plan:
        catalog = connection.catalog_of(self.config.credentials)
        if catalog is None:
            return Plan(REBUILD)
        if self._planner is None:
            macros = self._macro_resolver.macros
            engine = "sail" if sail.is_sail(catalog.spark) else "spark"
            self._definitions = Definitions(nodes, macros, self._vars_of, engine)
            self._planner = Planner(nodes, self._definitions, self._manifest_of, set(selected), digest_log)
        if nodes[node_id]["resource_type"] == NodeType.Test:
            passes = Passes(catalog.warehouse)
            return passes.plan(self._planner, nodes[node_id], self._definitions.of(node_id), anew)
        plan = self._planner.plan(node_id, anew)
        is_rebuilt = plan.action == REBUILD and not anew and not self._manifest_of(nodes[node_id])
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
    def rows_of_pass(self) -> agate.Table:
        """What dbt expects of a test that passes."""
        return agate_helper.table_from_data_flat(
            [{"failures": 0, "should_warn": False, "should_error": False}], ["failures", "should_warn", "should_error"]
        )

    @available
    def say_rebuild(self, name: str, reason: str) -> str:
        """Say in a line why a table that stands is rebuilt; of tables with the same reason, of the first.

        Args:
            name: The table's.
            reason: The parts of its definition that have changed. Those of `inputs` have lines of their own.
        """
        if reason != INPUTS and reason not in self._said:
            self._said.add(reason)
            logger.info(f"rebuilding {name}: its {reason} changed (further tables for this reason are not named)")
        return ""

    def create_schema(self, relation: BaseRelation) -> None:
        """Make a schema, at the place in the warehouse where its new tables go."""
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.make_schema(relation.schema)
        super().create_schema(relation)

    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a table or view; and the files of a new table, which not every engine removes."""
        super().drop_relation(relation)
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.make_room(relation.schema, relation.identifier)

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
        """Find names of vars that are given for a package which does not have them; see `var_names.find_unknown`.

        Args:
            package: The package.
            known: The names that it has.
            codes: The code of other packages' nodes; dbt's own list of macros has that of their macros.
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
        """Refuse a run, before any model of it, whose Python models have no session or lack a package on a worker.

        Args:
            models: Those that are about to run, each with its `name` and its config `packages`.
        """
        workers.check(self.config.credentials, models)
        return ""

    @available
    def publish(self, relation: BaseRelation) -> str:
        """Publish a table that no node made: for operations and hooks. Elsewhere than in folders there is no need."""
        self._publish(relation.schema, relation.identifier)
        return ""

    @available
    def run_fixpoint(
        self, relation: BaseRelation, queries: list[str], names: dict[str, str], spec: dict[str, Any], statement: str
    ) -> str:
        """Run the rounds of a `fixpoint` model and make its table; see `fixpoint.Fixpoint`.

        Args:
            relation: The table.
            queries: Base, step and, optionally, the query for the rows that still wait.
            names: The names in them that stand for stored rows, as `fixpoint.Names` has them.
            spec: How the rounds run, as `fixpoint.Spec` has it.
            statement: Makes the table; `names["result"]` in it stands for the query for the settled rows.
        """
        result = names.pop("result")

        def execute(sql: str) -> list:
            _, table = self.execute(sql, fetch=True)
            return [tuple(row.values()) for row in table.rows]

        def make() -> None:
            if self.config.credentials.method == "session":
                name = hashlib.sha256(str(relation).encode()).hexdigest()[:16]
                store = SessionStore(connection.current(self.config.credentials), f"fixpoint_{name}")
            else:
                store = TableStore(execute, str(relation), "parquet")
            rounds = Fixpoint(
                store, queries, Names(**names), Spec(**spec), lambda line: logger.info(f"{relation.identifier}: {line}")
            )
            try:
                self.execute(statement.replace(result, rounds.run()))
            finally:
                rounds.drop()

        over_lost_rows(make, relation.identifier)
        return ""

    @available
    def published(self, schema: str) -> list[dict[str, Any]] | None:
        """The tables of a schema as readers see them; None where it is not in folders.

        Each has its `name`; `run_id`, the last run that built it or found it the same; `built_at`; `changed_in`, the
        run since which it has the rows it has; `changes`, what that run changed, if it was counted.
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
        """The folder of the warehouse, for a line of advice; None where tables are not in folders."""
        catalog = connection.catalog_of(self.config.credentials)
        return None if catalog is None else shown_path(catalog.warehouse.root)

    @available
    def shown_command(self, *words: str) -> str:
        """Write a command of this environment, for a line of advice, as a shell takes it."""
        return shown_command(words)

    def cleanup_connections(self) -> None:
        """The command has ended: close its connections and let others build."""
        super().cleanup_connections()
        connection.end()

    def _publish(self, schema: str, name: str) -> None:
        catalog, key = connection.catalog_of(self.config.credentials), _key(schema, name)
        if catalog is None:
            return
        publication = self._building.pop(key, Publication())
        if key in self._kept:
            self._kept.remove(key)
            catalog.warehouse.keep(*key, get_invocation_id(), publication)
        else:
            catalog.publish(*key, get_invocation_id(), publication)
        with self._planning:  # in which manifests are read and kept
            self._manifests.pop(key, None)


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()  # as Spark names folders


def makes_table(node: Any) -> bool:
    """Whether a node writes a table; of tests those do that store their failures."""
    return node.resource_type not in (NodeType.Test, NodeType.Unit) or node.should_store_failures


def passed(context: Mapping[str, Any]) -> bool:
    """Whether the test passed whose context this is; where that is not certain, it did not."""
    result = context["load_result"]("main")
    if not result:  # it raised an error
        return False
    rows = [dict(zip(map(str.lower, row.keys()), row.values(), strict=True)) for row in result["table"].rows]
    if "unit" in context["model"]["resource_type"]:
        sides = {"actual": [], "expected": []}
        for row in rows:
            sides[row.pop("actual_or_expected")].append(repr(sorted(row.items())))
        return sorted(sides["actual"]) == sorted(sides["expected"])
    return len(rows) == 1 and not rows[0]["should_warn"] and not rows[0]["should_error"]
