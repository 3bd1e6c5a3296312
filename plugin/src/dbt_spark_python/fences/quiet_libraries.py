"""The words that libraries say beside dbt's own."""

import logging
import warnings


def quiet_libraries() -> None:
    """Silence a logger of pyspark and a warning of dbt-spark in this process (pyspark 4.0 to 4.3, dbt-spark 1.11).

    pyspark logs every failed query a second time, as JSON, and dbt reports the failure itself. dbt-spark sets Hive's
    catalog on every session, which a server of Spark Connect refuses with a warning. Neither has a setting.
    """
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
