"""dbt Python models on open-source Spark sessions.

dbt-spark submits Python models to Databricks only. This plugin adds the submission method `session`: the compiled
model runs in the dbt process, on the Spark session that dbt-spark's `method: session` uses for SQL. dbt finds the
plugin by its module name (`dbt_*`) and the `plugins` list below; a project turns it on with

    models:
      +submission_method: session

It depends on dbt-core, dbt-spark, pyspark and pyarrow.
"""

from dbt_spark_python.plugin import SparkPythonPlugin

__version__ = "0.1.0"

plugins = [SparkPythonPlugin]
