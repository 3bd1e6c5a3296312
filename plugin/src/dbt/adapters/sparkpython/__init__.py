"""dbt finds the adapter here: a profile with `type: sparkpython` loads this package, and dbt-spark as its parent.

Without an engine, the adapter's commands that need none still work; opening a session raises the remedy.
"""

from dbt.adapters.base import AdapterPlugin

from dbt.include import sparkpython
from dbt_spark_python.credentials import SparkPythonCredentials
from dbt_spark_python.session import engine

if engine.find_fault():
    from dbt_spark_python.session.engine import SparkPythonAdapter
else:
    from dbt_spark_python.adapter import SparkPythonAdapter

Plugin = AdapterPlugin(
    adapter=SparkPythonAdapter,
    credentials=SparkPythonCredentials,
    include_path=sparkpython.PACKAGE_PATH,
    dependencies=["spark"],
)
