"""dbt-spark's connection and cursor for an open session."""

from typing import Any, NamedTuple

from dbt.adapters.spark.session import Cursor
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
        """Execute a statement; a table is also created if a killed process had begun to write it."""
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
    """An open session in the place of dbt-spark's connection, which opens one at each statement."""

    session: SparkSession

    def cursor(self) -> SessionCursor:
        """Return a cursor."""
        return SessionCursor(self.session)
