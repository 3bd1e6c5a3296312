"""dbt loads the adapter for every command, so the adapter's own imports are light."""

import pytest

from dbt_process import run_python

LOADED = "print(sorted({'dbt', 'numba', 'numpy', 'pandas', 'pyarrow', 'pysail', 'pyspark'} & {*sys.modules}))"
ADAPTER = f"""
import sys
import dbt.adapters.sparkpython
{LOADED}
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (ADAPTER, ["['dbt', 'pyspark']"]),
        (f"import sys, dbt_spark_python.input_files; {LOADED}", ["[]"]),
    ],
    ids=["commands as dbt ls", "programs that find files"],
)
def test_what_a_program_loads(code, printed):
    """Dbt loads no Arrow."""
    done = run_python(code)
    assert done.stdout.splitlines() == printed, done.stderr
