"""The configs `timeout` and `packages` of Python models."""

import time

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python.python_model import requirements
from dbt_spark_python.session import timeout
from plugin_projects import make_project, python_model

SLOW = {
    "python.py": python_model(
        "import time", "dbt.config(timeout=1)", "while True:", "    time.sleep(0.05)", "return spark.range(1)"
    ),
    "engine.py": """
        import time


        def wait(batches):
            for batch in batches:
                for _ in range(3000):
                    time.sleep(0.1)
                yield batch


        def model(dbt, spark):
            dbt.config(timeout=1)
            return spark.range(1).repartition(1).mapInArrow(wait, "id bigint")
    """,
    "fast.py": python_model("dbt.config(timeout=600)", "return spark.range(1)"),
}


@pytest.mark.both
def test_a_model_that_takes_too_long(project, tmp_path):
    """A timed-out model ends, in Python or on the engine; the error has its line, and the other models are built."""
    made = project("slow", make_project(tmp_path / "p", SLOW))
    started = time.monotonic()
    said = made.failures("run")
    assert time.monotonic() - started < 200, "the engine would have worked on for 300 seconds"
    assert said.keys() == {"python", "engine"}
    expected = "it took longer than its `timeout` of 1 seconds: raise the `timeout`"
    assert all(expected in message for message in said.values())
    assert "models/python.py:5 in model" in said["python"]
    assert made.rows("fast") == [{"id": 0}]
    assert made.failures("run", "--select", "fast") == {}  # the session still works


@pytest.mark.parametrize("given", [0, -1, "soon", float("nan"), float("inf"), []])
def test_wrong_timeouts_are_refused(given):
    with pytest.raises(DbtRuntimeError, match="a number of seconds above 0"):
        timeout.seconds_of({"timeout": given})


def test_timeouts_and_packages_that_are_right():
    assert timeout.seconds_of({}) is None
    assert [timeout.seconds_of({"timeout": given}) for given in (5, "0.5")] == [5.0, 0.5]
    requirements.check(["pyarrow", "pyspark>=3.5,<5", "No.Such_Package; python_version < '3'", "dbt-core[x]"])


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("no-such-package", r"no-such-package \(not installed\).* pip install 'no-such-package'"),
        ("pyspark<3", r"pyspark<3 \(\d[\d.]+ is installed\).* pip install 'pyspark<3'"),
        ("one two", r"'one two', which is not a valid requirement: .*as pip takes it"),
    ],
)
def test_packages_that_are_not_there(package, said):
    with pytest.raises(DbtRuntimeError, match=said):
        requirements.check(["pyarrow", package])
