"""dbt loads the plugin for every command, so the plugin's own imports are light."""

import pytest

from dbt_process import run_python

LOADED = "print(sorted({'dbt', 'numba', 'numpy', 'pandas', 'pyarrow', 'pysail', 'pyspark'} & {*sys.modules}))"
ADAPTER = f"""
import gc, sys
from dbt_spark_python.plugin import SparkPythonPlugin
for before in (700, 200_000, 0):
    gc.set_threshold(before, 10, 10)
    SparkPythonPlugin("shop").initialize()
    print(gc.get_threshold())
{LOADED}
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (ADAPTER, ["(50000, 10, 10)", "(200000, 10, 10)", "(0, 10, 10)", "['dbt', 'pyspark']"]),
        (f"import sys, dbt_spark_python.input_files; {LOADED}", ["[]"]),
    ],
    ids=["commands as dbt ls", "programs that find files"],
)
def test_what_a_program_loads(code, printed):
    """No Arrow for dbt; and the collection of cycles is rare, unless the process has chosen it."""
    done = run_python(code)
    assert done.stdout.splitlines() == printed, done.stderr
