"""Errors of short memory are explained in one line with a remedy; other errors stay as they are."""

import pytest

from dbt_spark_python.python_model.submit import explain
from dbt_spark_python.session import memory
from dbt_spark_python.session.memory import machine_memory, short_memory

PYTHON = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "kernel.py", line 4, in walk
    ranks = np.empty(size)
numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array
"""
LOST = (
    "Job aborted due to stage failure: Task 0 in stage 7.0 failed 4 times, most recent failure: Lost task 0.3 in stage "
    "7.0 (TID 31) (10.0.0.4 executor 5): ExecutorLostFailure (executor 5 exited caused by one of the running tasks) "
    "Reason: Command exited with code 137\nDriver stacktrace: SQLSTATE: XXKDA"
)
UNFETCHED = (
    "An error occurred while calling o476.saveAsTable.\n: org.apache.spark.SparkException: Job aborted due to stage "
    "failure: ResultStage 56 (…) has failed the maximum allowable number of times: 4. Most recent failure reason: "
    "org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 13 partition 0\n"
    "\tat org.apache.spark.MapOutputTracker$.validateStatus(MapOutputTracker.scala:1983)"
)
CRASHED = "SparkException: Python worker exited unexpectedly (crashed). Consider setting 'spark.sql.…'"
HEAP = "Task 1 in stage 2.0 failed 4 times …: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/…"


@pytest.mark.parametrize(
    ("message", "begin", "remedy"),
    [
        (PYTHON, "Python ran out of memory on a worker (numpy._core._exceptions._ArrayMemoryError: ", "pyspark.memory"),
        ("Traceback …\nMemoryError\n", "Python ran out of memory on a worker (MemoryError): ", "memoryOverhead"),
        (LOST, "executors were lost repeatedly (Command exited with code 137), as ", "memoryOverhead"),
        *(
            (message, "executors were lost repeatedly (Missing an output location ", "spark.executor.memory for")
            for message in (UNFETCHED, UNFETCHED.replace("reason: ", "reason:\n"))
        ),
        (CRASHED, "Python was killed on a worker repeatedly (Python worker exited ", "memoryOverhead"),
        (HEAP, "Spark ran out of memory (java.lang.OutOfMemoryError: Java heap space): ", "spark.executor.memory;"),
    ],
)
def test_short_memory(message, begin, remedy):
    said = short_memory(message)
    assert said.startswith(begin)
    assert f"spark.executor.{remedy.removeprefix('spark.executor.')}" in said
    assert len(said.splitlines()) == 1
    assert explain(RuntimeError(message), "models/a.py", "") == said


def test_other_errors():
    assert short_memory("ValueError: no MemoryError, but the word of it") is None
    assert explain(ValueError("of something else"), "models/a.py", "") == "ValueError: of something else"


SAIL = (
    "Failed to allocate additional 276.8 KB for HashJoinInput[0] with 14.9 MB already allocated for this reservation - "
    "42.1 KB remain available for the total memory pool: fair(pool_size: 28.6 MB)"
)


def test_short_memory_of_sail():
    """The message has Sail's limit and its setting."""
    said = short_memory(SAIL)
    assert said.startswith("Sail reached its memory limit (Failed to allocate additional 276.8 KB")
    assert "`sail.runtime.memory_pool.greedy.max_size`" in said


@pytest.mark.parametrize(("said", "is_less"), [("1048576\n", True), ("max\n", False), (None, False)])
def test_the_memory_of_a_container(said, is_less, tmp_path, monkeypatch):
    """A container without a limit has the machine's memory."""
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path / "memory.max")
    if said:
        (tmp_path / "memory.max").write_text(said)
    found = machine_memory()
    assert found == 1048576 if is_less else found > 2**28
