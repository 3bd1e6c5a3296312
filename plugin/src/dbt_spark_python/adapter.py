"""Extends dbt-spark's adapter: Python models on sessions, folder warehouses, planned incremental runs."""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from dbt.adapters.base import BaseRelation, PythonJobHelper
from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter
from dbt.artifacts.resources.types import NodeType
from dbt.flags import get_flags
from dbt_common.events.event_manager_client import add_callback_to_manager
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt_spark_python import project_vars
from dbt_spark_python.engines import sail
from dbt_spark_python.fences.quiet_libraries import quiet_libraries
from dbt_spark_python.fixpoint import RESULT, Fixpoint, Spec
from dbt_spark_python.incremental.adapter_methods import PlannedRuns
from dbt_spark_python.incremental.plan import MATERIALIZATION
from dbt_spark_python.incremental.table_formats import drop_iceberg
from dbt_spark_python.project_graph import explain_missing_tables, find_confusions, find_private_reads
from dbt_spark_python.python_model import requirements
from dbt_spark_python.python_model.retries import retry_lost_rows
from dbt_spark_python.python_model.submit import SessionPythonJob
from dbt_spark_python.run_history import RunHistory
from dbt_spark_python.session import connection, small_run_profile
from dbt_spark_python.session.found_input import find_input
from dbt_spark_python.session.handle import SessionCursor
from dbt_spark_python.session.progress import RunProgress, logger
from dbt_spark_python.session.shell import shown_command, shown_path
from dbt_spark_python.table_store.catalog import literal

SUBMISSION_METHOD = "session"

#: In a node's `meta`: true if only the owner may read its table in a folder warehouse.
OWNER_ONLY = "owner_only"
# Iceberg's error if a namespace, or the catalog's folder, does not exist.
_NO_FOLDER = "NoSuchNamespaceException"
# Spark's error if a catalog cannot have views, or if Iceberg's extension is missing.
_NO_VIEWS = "does not support views"

# Materializations that never add rows to their existing table. All others may read and extend it.
_WITHOUT_EARLIER_ROWS = frozenset(
    {MATERIALIZATION, "fixpoint", "create_if_missing", "seed", "table", "test", "unit", "view"}
)


class SparkPythonAdapter(PlannedRuns, RunHistory, SparkAdapter):  # dbt derives the adapter's module from the class name
    """dbt-spark's adapter with Python models, folder warehouses and planned runs; all else is dbt-spark's."""

    ConnectionManager = connection.SessionConnections
    _has_skipped_docs = False

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        if hasattr(config, "vars"):  # `dbt debug` gives a profile alone
            parameters = config.credentials.server_side_parameters or {}
            small_run_profile.apply(parameters, {**config.vars.to_dict(), **config.cli_vars})
        quiet_libraries()
        add_callback_to_manager(RunProgress())

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
        catalog = connection.catalog_of(self.config.credentials)
        if catalog and sail.is_sail(catalog.spark):
            self._skip_persist_docs(node)
        if catalog and makes_table(node):
            catalog.warehouse.mark_owner_only(node.schema, node.alias, bool(node.config.meta.get(OWNER_ONLY)))
            if node.get_materialization() not in _WITHOUT_EARLIER_ROWS:
                catalog.checkout(node.schema, node.alias)
            else:
                catalog.detach(node.schema, node.alias)
            catalog.clear_leftovers(node.schema, node.alias)
        return node

    def _skip_persist_docs(self, node: Any) -> None:
        """Leave a node's descriptions out of the statements: Sail refuses comments (until 0.7.2 at least)."""
        if not any((getattr(node.config, "persist_docs", None) or {}).values()):
            return
        node.config.persist_docs = {}
        with self._planning:
            is_first, self._has_skipped_docs = not self._has_skipped_docs, True
        if is_first:
            logger.warning("persist_docs is skipped: Sail cannot store descriptions; build with Spark to store them")

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Publish a node's table, unless building it raised an error; record that a test passed."""
        node = context
        if node.resource_type in (NodeType.Test, NodeType.Unit):
            if makes_table(node):
                self.publish_table(node.schema, node.alias)
            self.record_pass(node, config)  # a test's config is its whole context
        elif sys.exc_info()[0] is None:  # dbt calls this after an error, too
            self.publish_table(node.schema, node.alias)

    def list_schemas(self, database: str | None) -> list[str]:
        """List the schemas; before its first schema, a Hadoop catalog of Iceberg has no folder and fails."""
        try:
            return super().list_schemas(database)
        except DbtRuntimeError as error:
            if _NO_FOLDER not in str(error):
                raise
            return []

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """List tables and views; dbt-spark lists no views of an Iceberg catalog."""
        found = super().list_relations_without_caching(schema_relation)
        if any(relation.is_iceberg for relation in found):
            found += self._views_of(schema_relation.schema)
        return found

    def _views_of(self, schema: str) -> list[BaseRelation]:
        try:
            views = self.fetch_rows(f"show views in {schema}")
        except DbtRuntimeError as error:
            if _NO_VIEWS not in str(error):
                raise
            return []
        return [
            self.Relation.create(schema=schema, identifier=view, type="view")
            for _, view, is_temp in views
            if not is_temp
        ]

    def create_schema(self, relation: BaseRelation) -> None:
        """Create a schema; in a folder warehouse, at the place of this process's new tables."""
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.make_schema(relation.schema)
        super().create_schema(relation)

    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a table or view with its files, which some engines, and most catalogs of Iceberg, leave behind."""
        if relation.is_iceberg and relation.is_table:
            self.cache_dropped(relation)
            drop_iceberg(self.execute, str(relation))
        else:
            super().drop_relation(relation)
        if catalog := connection.catalog_of(self.config.credentials):
            catalog.clear_leftovers(relation.schema, relation.identifier)

    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """Rename a table."""
        catalog = connection.catalog_of(self.config.credentials)
        if catalog and sail.is_sail(catalog.spark):
            if catalog.rename(from_relation.schema, from_relation.identifier, to_relation.identifier):
                return
            # Sail's ALTER TABLE cannot rename tables (until 0.7.2 at least).
            catalog.spark.sql(f"create table {to_relation} using parquet as select * from {from_relation}")
            self.drop_relation(from_relation)
        else:
            super().rename_relation(from_relation, to_relation)

    @available
    def find_unknown_vars(self, package: str, known: list[str], codes: list[str]) -> list[dict[str, str]]:
        """Find var names that are set for a package and that it does not define; see `project_vars.find_unknown`.

        `codes` is the code of other packages' nodes; the code of their macros is found here.
        """
        others = None
        if package != self.config.project_name:
            macros = self.get_macro_resolver().macros.values()
            codes = [*codes, *(macro.macro_sql for macro in macros if macro.package_name != package)]
            others = project_vars.names_of_others(package, self.config, codes)
        given = {project_vars.COMMAND_LINE: self.config.cli_vars, project_vars.PROJECT: self.config.vars.to_dict()}
        return project_vars.find_unknown(package, known, given, others)

    @available
    def find_wrong_vars(self, kinds: dict[str, Any], values: dict[str, Any]) -> list[str]:
        """Find vars with values that they cannot have; see `project_vars.find_wrong_values`."""
        return project_vars.find_wrong_values(kinds, values)

    @available.parse(project_vars.is_table)
    def is_log_table(self, value: Any) -> bool:
        """Whether a log is a reference to a table; see `project_vars.is_table`."""
        return project_vars.is_table(value)

    @available
    def check_graph(self, nodes: Mapping[str, Any], package: str, readers: list[str]) -> str:
        """Refuse models of other packages that dbt confuses with a package's models, and readers of private models.

        `readers` are the package's models that may read models of other packages.
        """
        if faults := [*find_confusions(nodes, package, readers), *find_private_reads(nodes, package)]:
            raise CompilationError(faults[0])
        return ""

    @available
    def check_selected(self, nodes: Mapping[str, Any], package: str, selected: list[str]) -> str:
        """Refuse a run, before its first model, if selected nodes of a package lack their conditions.

        These are a session and their packages, for Python models; and for tests, their tables.
        """
        flags, chosen = get_flags(), [node_id for node_id in selected if node_id in nodes]
        if flags.WHICH in ("build", "retry", "run"):
            python = [nodes[each]["config"] for each in chosen if nodes[each].get("language") == "python"]
            for config in python:
                requirements.check(config)
            if python:
                connection.python_session(self.config.credentials)
        if flags.WHICH in ("build", "test"):
            self._check_tests(nodes, package, chosen)
        return ""

    def _check_tests(self, nodes: Mapping[str, Any], package: str, selected: list[str]) -> None:
        flags = get_flags()

        @cache
        def exists(node_id: str) -> bool:
            node = nodes[node_id]
            if (flags.WHICH == "build" and node_id in selected) or node["config"]["materialized"] == "ephemeral":
                return True
            is_deferred = flags.DEFER and node.get("defer_relation")
            return bool(is_deferred) or self.get_relation(None, node["schema"], node["alias"]) is not None

        option = "--indirect-selection buildable, or in dbt_project.yml flags: {indirect_selection: buildable}"
        remedy = None if str(flags.INDIRECT_SELECTION) == "buildable" else option
        ours = [each for each in selected if nodes[each]["package_name"] == package]
        tests = [each for each in ours if nodes[each]["resource_type"] == NodeType.Test]
        if said := explain_missing_tables(nodes, tests, exists, remedy, flags.WHICH == "build"):
            raise CompilationError(said)

    @available
    def write_rows(self, rows: Iterable[Iterable[Any]], types: list[str]) -> str:
        """Write rows as SQL literals of these types, for `values`."""
        written = []
        for row in rows:
            cells = (f"cast({write_literal(cell)} as {kind})" for cell, kind in zip(row, types, strict=True))
            written.append(f"({', '.join(cells)})")
        return ", ".join(written)

    @available
    def run_fixpoint(self, relation: BaseRelation, queries: list[str], spec: dict[str, Any], statement: str) -> None:
        """Run the rounds of a `fixpoint` model and create its table; see `fixpoint.Fixpoint` and `fixpoint.Spec`.

        `fixpoint.RESULT` in the statement that creates the table stands for the query for the settled rows.
        """
        spark = connection.python_session(self.config.credentials)
        prefix = f"fixpoint_{hashlib.sha256(str(relation).encode()).hexdigest()[:16]}"

        def make() -> None:
            rounds = Fixpoint(
                spark, queries, Spec(**spec), prefix, lambda line: logger.info(f"{relation.identifier}: {line}")
            )
            try:
                query = rounds.run()
                with self.connections.exception_handler(statement):
                    SessionCursor(spark).execute(statement.replace(RESULT, query))
            finally:
                rounds.drop()

        retry_lost_rows(make, relation.identifier)

    @available
    def measure_input(self, path: str, name: str) -> dict[str, int] | None:
        """Return the numbers of `files` and stored `bytes` that Python models find at a path; None without files."""
        try:
            found = find_input(connection.python_session(self.config.credentials), path, name)
            return {"files": len(found.files), "bytes": found.count_bytes()}
        except Exception:  # of many types, as of a lost connection; the run has read the log, its size alone is unknown
            return None

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


def write_literal(value: Any) -> str:
    """Write a cell of a seed as an exact SQL literal."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | Decimal):
        return str(value).lower()
    return f"'{literal(value)}'"


def makes_table(node: Any) -> bool:
    """Whether a node writes a table; a test does if it stores its failures."""
    return node.resource_type not in (NodeType.Test, NodeType.Unit) or node.should_store_failures
