"""A library's words beside dbt's own."""

import logging


def quiet_libraries() -> None:
    """Silence a logger of pyspark in this process, which has no setting (pyspark 4.0 to 4.3).

    It logs every failed query a second time, as JSON, and dbt reports the failure itself.
    """
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
