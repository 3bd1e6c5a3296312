"""The Spark adapter with Python models on sessions, and with a warehouse of folders where the profile asks for one."""

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import agate
from dbt.adapters.base import BaseRelation, PythonJobHelper
from dbt.adapters.base.meta import available
from dbt.adapters.spark import impl
from dbt.artifacts.resources.types import NodeType
from dbt_common.clients import agate_helper
from dbt_common.invocation import get_invocation_id
from pyspark.sql import DataFrame

from dbt_spark_python import handles, sail, sessions, workers
from dbt_spark_python.catalog import FolderCatalog, quoted
from dbt_spark_python.changes import find_differing
from dbt_spark_python.columns import mentioned
from dbt_spark_python.earlier import touched_view
from dbt_spark_python.fixpoint import Fixpoint, Names, SessionStore, Spec, TableStore
from dbt_spark_python.lost import over_lost_rows
from dbt_spark_python.progress import logger
from dbt_spark_python.sail import checkpoint
from dbt_spark_python.shell import shown_command, shown_path
from dbt_spark_python.submission import SessionPythonJob
from dbt_spark_python.touched import Told, Touched, find_touched
from dbt_spark_python.unchanged import (
    digest_recipe,
    digest_way,
    has_passed,
    made_of_passed,
    note_passed,
)
from dbt_spark_python.var_names import COMMAND_LINE, PROJECT, find_unknown, names_of_others
from dbt_spark_python.warehouse import is_delta

SUBMISSION_METHOD = "session"

#: In a node's `meta`: true where its table, in a warehouse of folders, is for nobody but its owner to read.
OWNER_ONLY = "owner_only"

# These write no row into a table that is there; any other materialization may go on from what is there.
_NOT_GOING_ON = frozenset({"fixpoint", "kept", "republished", "seed", "table", "test", "unit", "view"})


class SparkAdapter(impl.SparkAdapter):  # dbt makes the name of the adapter from the name of the class
    """dbt-spark's adapter; what it adds is here, and every other behaviour is dbt-spark's."""

    ConnectionManager = sessions.SessionConnections

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        sessions.choose(config.credentials, {**config.vars.to_dict(), **config.cli_vars})
        self._recipes: dict[tuple[str, str], str | None] = {}  # of what is being made, until it is published
        self._ways: dict[tuple[str, str], str] = {}  # likewise
        self._grains: dict[tuple[str, str], list[str]] = {}  # of what is being made and counted
        self._made_of: dict[tuple[str, str], dict[str, str]] = {}  # contents of the tables that it is made of
        self._told: dict[tuple[str, str], Told] = {}  # what is to be told of its changes
        self._touched_groups: dict[tuple[str, str], Touched] = {}  # what of it is being made again
        self._kept: set[tuple[str, str]] = set()  # what is not made again

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
        if node.resource_type == NodeType.Unit and (session := sessions.of_unit_tests()):
            self.connections.get_thread_connection().handle = handles.handle(session)
        catalog = sessions.catalog_of(self.config.credentials)
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
        if node.resource_type == NodeType.Unit and sessions.of_unit_tests():
            self.connections.get_thread_connection().handle = handles.handle(sessions.of_process())
        if node.resource_type in (NodeType.Test, NodeType.Unit):
            if makes_table(node):
                self._publish(node.schema, node.alias)
            key = _key(node.schema, node.unique_id)
            recipe, way, made_of = (known.pop(key, None) for known in (self._recipes, self._ways, self._made_of))
            if recipe and passed(config):  # of a test it is the whole context
                catalog = sessions.catalog_of(self.config.credentials)
                note_passed(catalog.warehouse, node.schema, node.unique_id, recipe, way, made_of)

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Note a new relation; one that a node made, and that is complete, is published."""
        if relation is not None and relation.dbt_created:
            self._publish(relation.schema, relation.identifier)
        return super().cache_added(relation)

    @available
    def stands(
        self,
        relation: BaseRelation,
        recipe: str,
        inputs: list[list[str]] | None,
        reads: Mapping[str, Any],
        anew: bool,
        way: str | None = None,
    ) -> bool:
        """Whether a table stands that would come out the same if it was made again; then it is kept as it is.

        Args:
            relation: The table.
            recipe: All that decides what comes out and is known to dbt: code, settings.
            inputs: The tables it is made of, as schema and name; None where these cannot be known.
            reads: What else it reads; see `unchanged.digest_recipe`.
            anew: It is made again in any case.
            way: Of the recipe what does not tell what the table is made of; without it, all.
        """
        catalog = sessions.catalog_of(self.config.credentials)
        key = _key(relation.schema, relation.identifier)
        if catalog is None:
            return False
        self._recipes[key] = self._digest(catalog, recipe, inputs, reads)
        self._ways[key] = digest_way(self._made_by(catalog, way or recipe), reads)
        self._made_of[key] = self._contents(catalog, inputs) if self._recipes[key] else {}
        if anew or self._recipes[key] is None or self._recipes[key] != catalog.warehouse.recipe_of(*key):
            return False
        self._kept.add(key)
        return True

    @available
    def is_of_this_way(self, relation: BaseRelation) -> bool | None:
        """Whether a table that stands was made as it would be made now, whatever of; asked behind `stands`.

        None where a warehouse does not tell. False also where the table's files are not those that were published.
        """
        catalog = sessions.catalog_of(self.config.credentials)
        key = _key(relation.schema, relation.identifier)
        if catalog is None or is_delta(catalog.warehouse.public_place(*key)):
            return None
        return self._ways.get(key) is not None and self._ways[key] == catalog.warehouse.way_of(*key)

    @available
    def count_changes(self, relation: BaseRelation, grain: list[str]) -> str:
        """Have the rows counted that a table, when it is published, has more, other and less than before.

        Args:
            relation: The table.
            grain: The columns by which a row is the same one.
        """
        self._grains[_key(relation.schema, relation.identifier)] = grain
        return ""

    @available
    def tell_changes(self, relation: BaseRelation, columns: list[str], by_digests: bool = False) -> str:
        """Have it noted, when a table is published, which values columns have in the rows that differ from before.

        Args:
            relation: The table.
            columns: Of which those count that it has.
            by_digests: It is of `reduced_by_group` or `check_lines`; see `changes.find_differing`.
        """
        self._told[_key(relation.schema, relation.identifier)] = Told(columns, by_digests)
        return ""

    @available
    def touched_groups(
        self, relation: BaseRelation, keys: list[str], of: dict[str, list[str]], query: str = "*"
    ) -> dict | None:
        """The groups of a table whose rows have to be made again; asked behind `stands`.

        Args:
            relation: The table.
            keys: The columns that name a group.
            of: The tables of which it is made group by group, as dbt names them, and their columns that name a group;
                none of one whose rows follow from those of the others.
            query: What will be asked of these rows; columns of which it does not speak are left out.

        Returns:
            For each of the tables a temporary view of its rows of these groups; None where the table has to be made
            whole.
        """
        catalog = sessions.catalog_of(self.config.credentials)
        key = _key(relation.schema, relation.identifier)
        if catalog is None or not self.is_of_this_way(relation):
            return None
        found = _touched(catalog, catalog.warehouse.made_of(*key), self._made_of.get(key), keys, of)
        if found is None:
            return None
        self._touched_groups[key] = found
        parts = {}
        for table, columns in of.items():
            if columns:
                rows = catalog.spark.table(table)
                read = mentioned(rows.columns, " ".join([query, *map(quoted, columns)]))
                # Once, as most queries read them more than once.
                parts[table] = _view(checkpoint(found.of(rows.select(*map(quoted, read)), columns)), key, table)
        return parts

    @available
    def tell_touched(self, relation: BaseRelation, keys: list[str], of: dict[str, list[str]]) -> str:
        """Let a Python model know which groups of its table have to be made again (`earlier.touched`); behind `stands`.

        Args:
            relation: The table.
            keys: The columns that name a group.
            of: As for `touched_groups`.
        """
        catalog = sessions.catalog_of(self.config.credentials)
        if catalog is None:
            return ""
        key, view, found = _key(relation.schema, relation.identifier), touched_view(relation), None
        if self.is_of_this_way(relation):
            found = _touched(catalog, catalog.warehouse.made_of(*key), self._made_of.get(key), keys, of)
        if found is not None:
            found.names.rows.createOrReplaceTempView(view)
            self._told[key] = replace(self._told.get(key, Told(keys)), touched=found)
        elif catalog.spark.catalog.tableExists(view):  # of an earlier command in this process
            catalog.spark.catalog.dropTempView(view)
        return ""

    @available
    def take_groups(self, relation: BaseRelation, made: BaseRelation) -> dict[str, str]:
        """How a table becomes what it would be, of what its touched groups are now; behind `touched_groups`.

        Args:
            relation: The table.
            made: A new table with the rows of these groups, and no others; it stays until the table is published.

        Returns:
            Nothing where they are what they were: then the table is kept as it is. `added`, a temporary view of rows to
            be inserted into the table, which is then one of this process's own, of the same files; or `others`, a
            temporary view of its rows of other groups, which with those of `made` are the new table.
        """
        catalog = sessions.catalog_of(self.config.credentials)
        key = _key(relation.schema, relation.identifier)
        groups = self._touched_groups.pop(key)
        table, after = catalog.spark.table(str(relation)), catalog.spark.table(str(made))
        told = self._told.get(key, Told(groups.keys))
        columns = [column for column in told.columns if column in table.columns]
        place = catalog.warehouse.new_folder()
        found = find_differing(groups.of(table), after, place, columns, self._grains.get(key))
        if found.count == 0:
            self._kept.add(key)
            return {}
        self._told[key] = replace(told, differing=found)
        if not found.is_any_old and catalog.warehouse.can_grow(*key):
            added = _view(found.new_rows(after), key, "added")
            catalog.checkout(*key)
            return {"added": added}
        return {"others": _view(groups.others(table), key, "others")}

    @available
    def touched_since_passed(
        self, schema: str, unique_id: str, keys: list[str], of: dict[str, list[str]]
    ) -> dict | None:
        """As `touched_groups`, the views at which a test that passed has to look; asked behind `passes`."""
        catalog = sessions.catalog_of(self.config.credentials)
        key = _key(schema, unique_id)
        if catalog is None:
            return None
        before = made_of_passed(catalog.warehouse, schema, unique_id, self._ways.get(key))
        found = _touched(catalog, before, self._made_of.get(key), keys, of)
        if found is None:
            return None
        spark = catalog.spark
        return {table: _view(found.of(spark.table(table), columns), key, table) for table, columns in of.items()}

    def _contents(self, catalog: FolderCatalog, inputs: list[list[str]] | None) -> dict[str, str]:
        content_of = catalog.warehouse.content_of
        found = {f"{schema}.{name}".lower(): content_of(schema, name) for schema, name in inputs or []}
        return {} if None in found.values() else found

    @available
    def passes(self, schema: str, unique_id: str, recipe: str, inputs: list[list[str]], anew: bool) -> bool:
        """Whether a test passed on tables that stand as they stood, and would pass again; arguments as for `stands`."""
        catalog = sessions.catalog_of(self.config.credentials)
        if catalog is None:
            return False
        digest = self._digest(catalog, recipe, inputs, {})
        if not anew and digest is not None and has_passed(catalog.warehouse, schema, unique_id, digest):
            return True
        self._recipes[_key(schema, unique_id)] = digest
        self._ways[_key(schema, unique_id)] = digest_way(self._made_by(catalog, recipe), {})
        self._made_of[_key(schema, unique_id)] = self._contents(catalog, inputs) if digest else {}
        return False

    @available
    def rows_of_pass(self, is_unit_test: bool) -> agate.Table:
        """What dbt expects of a test that passes."""
        if is_unit_test:
            return agate_helper.table_from_data_flat([], ["actual_or_expected"])
        return agate_helper.table_from_data_flat(
            [{"failures": 0, "should_warn": False, "should_error": False}], ["failures", "should_warn", "should_error"]
        )

    def _digest(
        self, catalog: FolderCatalog, recipe: str, inputs: list[list[str]] | None, reads: Mapping[str, Any]
    ) -> str | None:
        if inputs is None:
            return None
        tables = [(schema, name) for schema, name in inputs]
        return digest_recipe(catalog.warehouse, self._made_by(catalog, recipe), tables, reads)

    def _made_by(self, catalog: FolderCatalog, code: str) -> str:
        return json.dumps([code, "sail" if sail.is_sail(catalog.spark) else "spark", self._macros_digest()])

    @functools.cache  # noqa: B019 an adapter lives as long as a command
    def _macros_digest(self) -> str:
        """Digest the macros of the project and its packages: a materialization calls them when all is compiled."""
        macros = sorted(
            (name, macro.macro_sql)
            for name, macro in self._macro_resolver.macros.items()
            if macro.package_name not in ("dbt", "dbt_spark")
        )
        return hashlib.sha256(json.dumps(macros).encode()).hexdigest()

    def create_schema(self, relation: BaseRelation) -> None:
        """Make a schema, at the place in the warehouse where its new tables go."""
        if catalog := sessions.catalog_of(self.config.credentials):
            catalog.make_schema(relation.schema)
        super().create_schema(relation)

    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a table or view; and the files of a new table, which not every engine removes."""
        super().drop_relation(relation)
        if catalog := sessions.catalog_of(self.config.credentials):
            catalog.make_room(relation.schema, relation.identifier)

    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """Rename a table."""
        catalog = sessions.catalog_of(self.config.credentials)
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
                store = SessionStore(sessions.current(self.config.credentials), f"fixpoint_{name}")
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
        catalog = sessions.catalog_of(self.config.credentials)
        if catalog is None:
            return None
        return [
            {key: getattr(table, key) for key in ("name", "run_id", "built_at", "changed_in", "changes")}
            for table in catalog.warehouse.published(schema.lower())
        ]

    @available
    def warehouse_path(self) -> str | None:
        """The folder of the warehouse, for a line of advice; None where tables are not in folders."""
        catalog = sessions.catalog_of(self.config.credentials)
        return None if catalog is None else shown_path(catalog.warehouse.root)

    @available
    def shown_command(self, *words: str) -> str:
        """Write a command of this environment, for a line of advice, as a shell takes it."""
        return shown_command(words)

    def cleanup_connections(self) -> None:
        """The command has ended: close its connections and let others build."""
        super().cleanup_connections()
        sessions.end()

    def _publish(self, schema: str, name: str) -> None:
        catalog = sessions.catalog_of(self.config.credentials)
        if catalog is None:
            return
        key = _key(schema, name)
        said = (self._recipes, self._ways, self._grains, self._made_of, self._told)
        recipe, way, grain, made_of, told = (known.pop(key, None) for known in said)
        if key in self._kept:
            self._kept.remove(key)
            catalog.warehouse.keep(*key, get_invocation_id(), {"recipe": recipe, "way": way, "made_of": made_of})
        else:
            catalog.publish(schema, name, get_invocation_id(), recipe, way, grain, made_of, told)


def _touched(
    catalog: FolderCatalog,
    before: dict[str, str] | None,
    now: dict[str, str] | None,
    keys: list[str],
    of: Mapping[str, list[str]],
) -> Touched | None:
    """The groups that are touched between two states of the tables that a node is made of."""
    if not before or not now:
        return None
    named = {table.replace("`", "").lower(): columns for table, columns in of.items()}
    return find_touched(catalog.spark, catalog.warehouse, before, now, named, keys)


def _view(rows: DataFrame, key: tuple[str, str], what: str) -> str:
    """Make a temporary view of some rows; returns its name."""
    name = f"groups_{hashlib.sha256(json.dumps([key, what]).encode()).hexdigest()[:32]}"
    rows.createOrReplaceTempView(name)
    return name


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
