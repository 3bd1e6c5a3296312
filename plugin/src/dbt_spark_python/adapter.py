"""The Spark adapter with Python models on sessions, and with a warehouse of folders where the profile asks for one."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.base import BaseRelation, PythonJobHelper
from dbt.adapters.base.meta import available
from dbt.adapters.spark import impl
from dbt.artifacts.resources.types import NodeType
from dbt_common.invocation import get_invocation_id

from dbt_spark_python import sail, sessions
from dbt_spark_python.submission import SessionPythonJob

SUBMISSION_METHOD = "session"

# These make their tables from nothing, or leave them alone; any other materialization may go on from what is there.
_NOT_GOING_ON = frozenset({"kept", "seed", "table", "test", "unit", "view"})


class SparkAdapter(impl.SparkAdapter):  # dbt makes the name of the adapter from the name of the class
    """dbt-spark's adapter; what it adds is here, and every other behaviour is dbt-spark's."""

    ConnectionManager = sessions.SessionConnections

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        sessions.choose(config.credentials, {**config.vars.to_dict(), **config.cli_vars})

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
        if catalog := sessions.catalog_of(self.config.credentials):
            if node.get_materialization() not in _NOT_GOING_ON:
                catalog.checkout(node.schema, node.alias)
            else:
                catalog.part(node.schema, node.alias)
            catalog.make_room(node.schema, node.alias)
        return node

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Publish the failures that a test stored; what other nodes make is published when they have succeeded."""
        if context.resource_type == NodeType.Test:
            self._publish(context.schema, context.alias)

    @available
    def cache_added(self, relation: BaseRelation | None) -> str:
        """Note a new relation; one that a node made, and that is complete, is published."""
        if relation is not None and relation.dbt_created:
            self._publish(relation.schema, relation.identifier)
        return super().cache_added(relation)

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
            sail.copy(catalog.spark, str(from_relation), str(to_relation))
            self.drop_relation(from_relation)
        else:
            super().rename_relation(from_relation, to_relation)

    @available
    def publish(self, relation: BaseRelation) -> str:
        """Publish a table that no node made: for operations and hooks. Elsewhere than in folders there is no need."""
        self._publish(relation.schema, relation.identifier)
        return ""

    @available
    def published(self, schema: str) -> list[dict[str, str | None]] | None:
        """The tables of a schema as readers see them: `name`, `run_id`, `built_at`; None where it is not in folders."""
        catalog = sessions.catalog_of(self.config.credentials)
        if catalog is None:
            return None
        return [
            {"name": table.name, "run_id": table.run_id, "built_at": table.built_at}
            for table in catalog.warehouse.published(schema.lower())
        ]

    def cleanup_connections(self) -> None:
        """The command has ended: close its connections and let others build."""
        super().cleanup_connections()
        sessions.end()

    def _publish(self, schema: str, name: str) -> None:
        if catalog := sessions.catalog_of(self.config.credentials):
            catalog.publish(schema, name, get_invocation_id())
