"""dbt Python models on open-source Spark sessions.

dbt-spark submits Python models to Databricks only. This plugin adds the submission method `session`: the compiled
model runs in the dbt process, on the Spark session that dbt-spark's `method: session` uses for SQL. dbt finds the
plugin by its module name (`dbt_*`) and the `plugins` list below; a project turns it on with

    models:
      +submission_method: session

It depends on dbt-core, dbt-spark and pyarrow. The engine is chosen by an extra: `spark`, `sail`, or `engines` for both.
"""

from dbt_spark_python.session import engine

__version__ = "0.1.0"

if engine.find_fault():
    plugins = [engine.NoEnginePlugin]
else:
    from dbt_spark_python.plugin import SparkPythonPlugin

    plugins = [SparkPythonPlugin]
