"""Which distributions of pyspark form an engine, and the messages if they do not."""

import pytest
from dbt.adapters.spark.connections import SparkConnectionMethod

from dbt_spark_python.adapter import SparkPythonAdapter
from dbt_spark_python.session import engine


@pytest.mark.parametrize(
    ("installed", "is_there", "fault"),
    [
        ({"pyspark"}, True, None),
        ({"pyspark-client"}, True, None),
        (set(), True, None),  # a cluster's own pyspark on the path
        (set(), False, "no engine"),
        ({"pyspark", "pyspark-client"}, True, "pip uninstall pyspark pyspark-client"),
    ],
)
def test_one_pyspark_is_an_engine(installed, is_there, fault, monkeypatch):
    monkeypatch.setattr(engine, "_is_installed", installed.__contains__)
    monkeypatch.setattr(engine, "find_spec", lambda name: is_there or None)
    found = engine.find_fault()
    assert found is None if fault is None else fault in found
    assert not found or "'dbt-spark-python[engines]'" in found


@pytest.mark.parametrize("module", ["pyspark.core", "pyspark.context", None])
def test_a_client_alone_is_no_spark(monkeypatch, module):
    """Spark is present if either of two modules exists; versions differ in which one they have."""
    monkeypatch.setattr(engine, "find_spec", lambda name: name == module or None)
    found = engine.find_fault_of_spark()
    assert found is None if module else "has only its client" in found


def test_the_stand_in_refuses_sessions_alone(monkeypatch):
    """The stand-in adapter still opens connections that work without pyspark."""

    class Connection:
        class credentials:
            method = SparkConnectionMethod.SESSION

    connections = engine.SparkPythonAdapter.ConnectionManager
    assert engine.SparkPythonAdapter.type() == SparkPythonAdapter.type() == "sparkpython"
    monkeypatch.setattr(engine, "find_fault", lambda: "the fault")
    with pytest.raises(RuntimeError, match="the fault"):
        connections.open(Connection)
    Connection.credentials.method = SparkConnectionMethod.THRIFT
    monkeypatch.setattr(engine.SparkConnectionManager, "open", classmethod(lambda cls, connection: "opened"))
    assert connections.open(Connection) == "opened"
