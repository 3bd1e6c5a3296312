"""Wraps an open session as dbt-spark's connection, and raises the engine's errors as dbt's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.spark.session import Connection, Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.python_model.stale_write_cleanup import retry_over_unfinished


@contextmanager
def raise_as_dbt_errors() -> Iterator[None]:
    """Raise the engine's errors as dbt errors."""
    try:
        yield
    except PySparkException as error:
        raise DbtRuntimeError(str(error)) from error


class OpenCursor(Cursor):
    """dbt-spark's cursor on an open session."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute a statement.

        Raises:
            DbtRuntimeError: The engine refuses it, or it fails.
        """
        with raise_as_dbt_errors():
            self._df = self.session.sql(sql % parameters if parameters else sql)
        self._rows = None


class OpenConnection(Connection):
    """dbt-spark's connection to an open session."""

    def __init__(self, session: SparkSession, kind: type[OpenCursor]) -> None:
        super().__init__()
        self.session = session
        self.kind = kind

    def cursor(self) -> OpenCursor:
        """Return a cursor."""
        return self.kind(self.session)


class SessionHandle(SessionConnectionWrapper):
    """dbt-spark's handle of a session; a table is also created if a killed process had begun to write it."""

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        """Execute a statement."""
        execute = super().execute
        retry_over_unfinished(lambda: execute(sql, bindings))


def handle(session: SparkSession, kind: type[OpenCursor] = OpenCursor) -> SessionHandle:
    """Wrap a session for dbt-spark's connection managers."""
    return SessionHandle(OpenConnection(session, kind))
