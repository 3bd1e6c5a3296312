"""dbt loads the plugin for every command, so the plugin's own imports are light."""

import json
import subprocess
import sys

import pytest

HEAVY = ["numba", "numpy", "pandas", "pyarrow", "pysail"]
PROGRAM = f"""
import gc, json, sys
gc.set_threshold(int(sys.argv[1]), 10, 10)
from dbt_spark_python.plugin import SparkPythonPlugin
SparkPythonPlugin("shop").initialize()
print(json.dumps([[name for name in {HEAVY!r} if name in sys.modules], gc.get_threshold()]))
"""


@pytest.mark.parametrize(("before", "after"), [(700, 50_000), (200_000, 200_000), (0, 0)])
def test_the_adapter_loads_quickly(before, after):
    """Commands as `dbt ls` load no Arrow, and the collection of cycles is rare, unless the process has chosen it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(before)], capture_output=True, text=True, check=True)
    heavy, threshold = json.loads(done.stdout)
    assert heavy == [] and threshold == [after, 10, 10]


def test_files_are_found_without_dbt():
    """Programs that find files or read manifests load neither dbt nor an engine."""
    program = "import sys, dbt_spark_python.input_files; print({'dbt', 'pyspark'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
