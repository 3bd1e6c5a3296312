"""A query that a server of Spark Connect gets once."""

from functools import cache

from pyspark.sql import DataFrame, SparkSession


def query_once(session: SparkSession, query: str) -> DataFrame:
    """Return the rows of a query, which the server gets when they are collected.

    `session.sql` sends the query a first time to learn whether it is a command, and collecting its rows asks for a
    setting (pyspark 4.0 to 4.2).
    """
    from pyspark.sql.connect.plan import SQL

    return _single_query_class()(SQL(query), session)


@cache
def _single_query_class() -> type[DataFrame]:
    from pyspark.sql.connect.dataframe import DataFrame as Rows

    class SingleQuery(Rows):
        def _to_table(self) -> tuple:
            table, schema = super()._to_table()
            self._cached_schema = schema
            return table, schema

        def _get_binary_as_bytes(self) -> bool:
            return True  # the default, without asking the server for the setting each time

    return SingleQuery
