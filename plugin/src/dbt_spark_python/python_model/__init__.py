"""Runs dbt Python models: from compiled code to a written table.

dbt calls `submit` for each Python model through the adapter's submission method `session`; `write` writes the returned
DataFrame as a table. Before a run, the adapter's `check_python_models` calls `workers`, which asks the workers for
missing packages (`probe`, `requirements`). `ship_packages` sends importable packages to a cluster.

The other modules are for the code of models: `map_groups` runs a kernel on whole groups of rows, `shuffle_key` extracts
a part of a line to partition by, and `null_lists` speeds up null lists on Spark. `checkpoint_retry` and
`stale_write_cleanup` recover from lost executors and killed processes.
"""
