"""dbt-spark's handle of an open session, which raises the engine's errors as dbt's."""

from typing import Any, NamedTuple

from dbt.adapters.spark.session import Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail
from dbt_spark_python.python_model.retries import retry_over_unfinished


class SessionCursor(Cursor):
    """dbt-spark's cursor on an open session."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute a statement; a table is also created if a killed process had begun to write it.

        Raises:
            DbtRuntimeError: The engine refuses it, or it fails.
        """
        try:
            retry_over_unfinished(lambda: self._execute(sql % parameters if parameters else sql))
        except PySparkException as error:
            raise DbtRuntimeError(str(error)) from error

    def _execute(self, sql: str) -> None:
        if sail.is_sail(self.session):
            self._df, self._rows = sail.execute(self.session, sql)
        else:
            self._df, self._rows = self.session.sql(sql), None


class OpenSession(NamedTuple):
    """A session in the place of dbt-spark's connection."""

    session: SparkSession

    def cursor(self) -> SessionCursor:
        """Return a cursor."""
        return SessionCursor(self.session)


def handle(session: SparkSession) -> SessionConnectionWrapper:
    """Wrap a session for dbt-spark's connection managers."""
    return SessionConnectionWrapper(OpenSession(session))
