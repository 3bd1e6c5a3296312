"""What dbt-spark takes for a connection, over a session that is open."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

from dbt.adapters.spark.session import Connection, Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.python_model.stale_write_cleanup import over_unfinished


@contextmanager
def told() -> Iterator[None]:
    """What the engine says is wrong, as an error of dbt's."""
    try:
        yield
    except PySparkException as error:
        raise DbtRuntimeError(str(error)) from error


class OpenCursor(Cursor):
    """dbt-spark's cursor, but one that looks for no session: it has one."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute a statement.

        Raises:
            DbtRuntimeError: The engine does not take it, or it fails.
        """
        with told():
            self._df = self.session.sql(sql % parameters if parameters else sql)
        self._rows = None


class OpenConnection(Connection):
    """dbt-spark's connection, to a session that is open."""

    def __init__(self, session: SparkSession, kind: type[OpenCursor]) -> None:
        super().__init__()
        self.session = session
        self.kind = kind

    def cursor(self) -> OpenCursor:
        """Get a cursor."""
        return self.kind(self.session)


class SessionHandle(SessionConnectionWrapper):
    """dbt-spark's handle of a session; the values of seeds are literals that say what the file says.

    dbt-spark puts them between quotes as they are: an empty cell becomes the word None, and quotes and backslashes
    break the statement, or vanish. A table is made also where a killed process had begun to write it.
    """

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        """Execute a statement."""
        execute = super().execute
        over_unfinished(lambda: execute(sql, bindings))

    @classmethod
    def _fix_binding(cls, value: Any) -> str:
        if value is None:
            return "null"
        if isinstance(value, bool | int | Decimal):
            return str(value).lower()
        if isinstance(value, float | datetime):
            return str(super()._fix_binding(value))
        return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def handle(session: SparkSession, kind: type[OpenCursor] = OpenCursor) -> SessionHandle:
    """Wrap a session as dbt-spark's connection managers want it."""
    return SessionHandle(OpenConnection(session, kind))
