"""A dbt adapter of type `sparkpython`: Spark SQL and Python models on open-source Spark sessions.

It extends dbt-spark, which submits Python models to Databricks only: here the compiled model runs in the dbt process,
on the Spark session that dbt-spark's `method: session` uses for SQL. dbt finds the adapter in
`dbt.adapters.sparkpython`, and its macros and materializations in `dbt.include.sparkpython`.

The packages below have one job each: `session` opens the Spark session, `python_model` runs Python models,
`table_store` keeps tables as folders of files, `incremental` decides which tables a run rebuilds, and `engines` holds
everything that differs on Sail. `adapter` is the class through which dbt calls them.
"""

__version__ = "0.1.0"
