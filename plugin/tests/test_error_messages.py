"""Errors that are explained in one line with a remedy, or that make a model run again; other errors stay."""

import pytest

from dbt_spark_python.engines import sail_server
from dbt_spark_python.python_model import retries
from dbt_spark_python.python_model.submit import explain
from dbt_spark_python.session import error_causes

SDK = "software.amazon.awssdk"
LOAD = "An error occurred while calling o50.load.\n: "
DENIED = f"{LOAD}java.nio.file.AccessDeniedException: s3a://logs/a"
UNANSWERED = "Unable to execute HTTP request: Connect to 127.0.0.1:34451 [/127.0.0.1] failed: Connection refused"
UNFETCHED = (
    "Error while calling o476.save.\n: … ResultStage 56 (…) has failed the maximum allowable number of times: 4. "
    "Most recent failure reason:{}org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output "
    "location for shuffle 13 partition 0\n\tat org.apache.spark.MapOutputTracker$.validateStatus(…)"
)
NETWORK = "check the network and `fs.s3a.endpoint`, and run again: complete tables are kept"

#: An engine's message, the begin of the explanation and the remedy in it.
EXPLAINED = {
    "worker": (
        "An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback …\n"
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array\n",
        "Python ran out of memory on a worker (numpy._core._exceptions._ArrayMemoryError: ",
        "spark.executor.pyspark.memory",
    ),
    "plain worker": (
        "Traceback …\nMemoryError\n",
        "Python ran out of memory on a worker (MemoryError): ",
        "spark.executor.memoryOverhead",
    ),
    "executors": (
        "Job aborted due to stage failure: Task 0 in stage 7.0 failed 4 times, most recent failure: … "
        "ExecutorLostFailure (executor 5 exited caused by one of the running tasks) Reason: Command exited with code "
        "137\nDriver stacktrace: …",
        "executors were lost repeatedly (Command exited with code 137), as ",
        "spark.executor.memoryOverhead",
    ),
    "shuffle": (
        UNFETCHED.format(" "),
        "executors were lost repeatedly (Missing an output location ",
        "spark.executor.memory for",
    ),
    "shuffle of 4.1": (
        UNFETCHED.format("\n"),
        "executors were lost repeatedly (Missing an output location ",
        "spark.executor.memory for",
    ),
    "crash": (
        "SparkException: Python worker exited unexpectedly (crashed). Consider setting 'spark.sql.…'",
        "Python was killed on a worker repeatedly (Python worker exited ",
        "spark.executor.memoryOverhead",
    ),
    "heap": (
        "Task 1 in stage 2.0 failed 4 times …: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/…",
        "Spark ran out of memory (java.lang.OutOfMemoryError: Java heap space): ",
        "spark.executor.memory;",
    ),
    "sail": (
        "Failed to allocate additional 276.8 KB for HashJoinInput[0] with 14.9 MB already allocated for this "
        "reservation - 42.1 KB remain available for the total memory pool: fair(pool_size: 28.6 MB)",
        "Sail reached its memory limit (Failed to allocate additional 276.8 KB",
        "`sail.runtime.memory_pool.greedy.max_size`",
    ),
    "module": (
        "Job aborted\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'numba.core'\n\n",
        "a worker's Python has no module numba.core. Install it there",
        "python -m dbt_spark_python.pack",
    ),
    "unanswered": (
        f"{LOAD}org.apache.iceberg.exceptions.RuntimeIOException: …\n\tat …\nCaused by: java.net.ConnectException: "
        f"getFileStatus on s3a://lake/t/v0.json: {SDK}.core.exception.SdkClientException: {UNANSWERED}:    "
        f"{SDK}.core.exception.SdkClientException: {UNANSWERED}: Connection refused",
        f"the object store does not answer for s3a://lake/t/v0.json ({UNANSWERED}): ",
        NETWORK,
    ),
    "cut answer": (
        f"{LOAD}java.io.UncheckedIOException: org.apache.http.ConnectionClosedException: Premature end of message body "
        f"(expected: 1,042; received: 0)\n\tat {SDK}.protocols.xml.internal.unmarshall.XmlResponseParserUtils.parse(…)",
        "the object store does not answer (Premature end of message body (expected: 1,042; received: 0)): ",
        NETWORK,
    ),
    "no credentials": (
        f"{DENIED}: org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided by "
        f"EnvironmentVariableCredentialsProvider : {SDK}.core.exception.SdkClientException: Unable to load …",
        "the object store refuses s3a://logs/a (No AWS Credentials provided by EnvironmentVariableCredentialsProvider)",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
    ),
    "wrong credentials": (
        f"{DENIED}: listObjects() on s3a://logs/a: {SDK}.services.s3.model.S3Exception: The AWS Access Key Id you "
        "provided does not exist in our records. (Service: S3, Status Code: 403, Request ID: IGm):Invalid\n…",
        "the object store refuses s3a://logs/a: The AWS Access Key Id you provided does not exist in our records. "
        "(Service: S3, Status Code: 403): ",
        "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    "refused head": (  # the answer to a HEAD request has no text
        f"{DENIED}: getFileStatus on s3a://logs/a: {SDK}.services.s3.model.S3Exception: null (Service: S3, Status "
        "Code: 403, Request ID: cy2, Extended Request ID: 0hc) (SDK Attempt Count: 1):null\n\tat org.apache.…",
        "the object store refuses s3a://logs/a: (Service: S3, Status Code: 403): ",
        "the rights that the store gives them",
    ),
    "no bucket": (
        f"{LOAD}org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://nowhere/x.jsonl': getFileStatus on "
        f"s3a://nowhere/x.jsonl: {SDK}.services.s3.model.NoSuchBucketException: The specified bucket does not exist "
        "(Service: S3, Status Code: 404, Request ID: U):NoSuchBucket: The …",
        "the object store lacks the bucket of s3a://nowhere/x.jsonl (The specified bucket does not exist): ",
        "correct the path, or make the bucket",
    ),
}


@pytest.mark.parametrize(("message", "begin", "remedy"), EXPLAINED.values(), ids=EXPLAINED)
def test_known_causes_are_explained_in_one_line(message, begin, remedy):
    said = error_causes.explain(message)
    assert said.startswith(begin) and remedy in said
    assert len(said.splitlines()) == 1
    assert explain(RuntimeError(message), "models/a.py", "") == said


@pytest.mark.parametrize(("said", "is_less"), [("1048576\n", True), ("max\n", False), (None, False)])
def test_the_memory_of_a_container(said, is_less, tmp_path, monkeypatch):
    monkeypatch.setattr(sail_server, "_CONTAINER", tmp_path / "memory.max")
    if said:
        (tmp_path / "memory.max").write_text(said)
    found = sail_server.machine_memory()
    assert found == 1048576 if is_less else found > 2**28


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no MemoryError, but the word of it", "ValueError: no MemoryError, but the word of it"),
        ("while reading file s3a://logs/a.jsonl.gz: not in gzip format", "s3a://logs/a.jsonl.gz could not be read: "),
        ("No module named 'here'", "ValueError: No module named 'here'"),
    ],
)
def test_other_errors_stay_as_they_are(message, said):
    assert error_causes.explain(f"ValueError: {message}") is None
    assert explain(ValueError(message), "models/a.py", "").startswith(said)


LOST_ROWS = (
    "Job aborted due to stage failure: Task 1 in stage 9.0 failed 4 times …: org.apache.spark.SparkException: "
    "[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_21_1 not found!\nEither the executor …"
)


@pytest.mark.parametrize(
    ("messages", "raised"),
    [([LOST_ROWS], None), ([LOST_ROWS, LOST_ROWS, "late"], "rdd_21_1"), (["other", LOST_ROWS], "other")],
)
def test_a_model_runs_again_once_if_an_executor_with_checkpointed_rows_was_lost(messages, raised, monkeypatch):
    lines, left = [], list(messages)
    monkeypatch.setattr(retries, "show_line", lines.append)

    def make():
        if left:
            raise RuntimeError(left.pop(0))

    if raised:
        with pytest.raises(RuntimeError, match=raised):
            retries.retry_lost_rows(make, "orders")
    else:
        retries.retry_lost_rows(make, "orders")
        assert lines == ["orders: an executor with checkpointed rows was lost; the model runs again"]
    assert left == messages[1 if raised in (None, "other") else 2 :]
