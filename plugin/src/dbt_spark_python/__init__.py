"""Runs dbt Python models on open-source Spark sessions.

dbt-spark submits Python models to Databricks only. This plugin adds the submission method `session`: the compiled model
runs in the dbt process, on the Spark session that dbt-spark's `method: session` uses for SQL. dbt finds the plugin by
its module name (`dbt_*`) and the `plugins` list below. A project turns it on with

    models:
      +submission_method: session

The packages below have one job each: `session` opens the Spark session, `python_model` runs Python models,
`table_store` keeps tables as folders of files, `incremental` decides which tables a run rebuilds, and `engines` holds
everything that differs on Sail. `adapter` is the class through which dbt calls them.

The plugin depends on dbt-core, dbt-spark and pyarrow. An extra chooses the engine: `spark`, `sail`, or `engines` for
both.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import dbt and the adapter when dbt looks for `plugins`: programs that read files or manifests need neither."""
    if name != "plugins":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dbt_spark_python.session import engine

    if engine.find_fault():
        return [engine.NoEnginePlugin]
    from dbt_spark_python.plugin import SparkPythonPlugin

    return [SparkPythonPlugin]
