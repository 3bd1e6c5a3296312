"""Errors that are explained in one line with a remedy, or that make a model run again; other errors stay."""

import pytest

from dbt_spark_python.engines import sail_server
from dbt_spark_python.python_model import retries
from dbt_spark_python.python_model.submit import explain
from dbt_spark_python.session import error_causes

PYTHON = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "kernel.py", line 4, in walk
    ranks = np.empty(size)
numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array
"""
LOST_EXECUTORS = (
    "Job aborted due to stage failure: Task 0 in stage 7.0 failed 4 times, most recent failure: … ExecutorLostFailure "
    "(executor 5 exited caused by one of the running tasks) Reason: Command exited with code 137\nDriver stacktrace: …"
)
UNFETCHED = (
    "An error occurred while calling o476.saveAsTable.\n: … ResultStage 56 (…) has failed the maximum allowable number "
    "of times: 4. Most recent failure reason: org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output "
    "location for shuffle 13 partition 0\n\tat org.apache.spark.MapOutputTracker$.validateStatus(…)"
)
CRASHED = "SparkException: Python worker exited unexpectedly (crashed). Consider setting 'spark.sql.…'"
HEAP = "Task 1 in stage 2.0 failed 4 times …: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/…"
SAIL = (
    "Failed to allocate additional 276.8 KB for HashJoinInput[0] with 14.9 MB already allocated for this reservation - "
    "42.1 KB remain available for the total memory pool: fair(pool_size: 28.6 MB)"
)


@pytest.mark.parametrize(
    ("message", "begin", "remedy"),
    [
        (PYTHON, "Python ran out of memory on a worker (numpy._core._exceptions._ArrayMemoryError: ", "pyspark.memory"),
        ("Traceback …\nMemoryError\n", "Python ran out of memory on a worker (MemoryError): ", "memoryOverhead"),
        (LOST_EXECUTORS, "executors were lost repeatedly (Command exited with code 137), as ", "memoryOverhead"),
        *(
            (message, "executors were lost repeatedly (Missing an output location ", "memory for")
            for message in (UNFETCHED, UNFETCHED.replace("reason: ", "reason:\n"))
        ),
        (CRASHED, "Python was killed on a worker repeatedly (Python worker exited ", "memoryOverhead"),
        (HEAP, "Spark ran out of memory (java.lang.OutOfMemoryError: Java heap space): ", "memory;"),
    ],
)
def test_short_memory(message, begin, remedy):
    said = error_causes.explain(message)
    assert said.startswith(begin) and f"spark.executor.{remedy}" in said
    assert len(said.splitlines()) == 1
    assert explain(RuntimeError(message), "models/a.py", "") == said


def test_short_memory_of_sail():
    said = error_causes.explain(SAIL)
    assert said.startswith("Sail reached its memory limit (Failed to allocate additional 276.8 KB")
    assert "`sail.runtime.memory_pool.greedy.max_size`" in said


@pytest.mark.parametrize(("said", "is_less"), [("1048576\n", True), ("max\n", False), (None, False)])
def test_the_memory_of_a_container(said, is_less, tmp_path, monkeypatch):
    monkeypatch.setattr(sail_server, "_CONTAINER", tmp_path / "memory.max")
    if said:
        (tmp_path / "memory.max").write_text(said)
    found = sail_server.machine_memory()
    assert found == 1048576 if is_less else found > 2**28


SDK = "software.amazon.awssdk"
UNANSWERED = (
    "An error occurred while calling o75.sql.\n: org.apache.iceberg.exceptions.RuntimeIOException: Failed to refresh "
    "the table\n\tat org.apache.…\nCaused by: java.net.ConnectException: getFileStatus on s3a://lake/t/v0.json: "
    f"{SDK}.core.exception.SdkClientException: Unable to execute HTTP request: Connect to 127.0.0.1:34451 [/127.0.0.1] "
    f"failed: Connection refused:    {SDK}.core.exception.SdkClientException: Unable to execute HTTP request: Connect "
    "to 127.0.0.1:34451 [/127.0.0.1] failed: Connection refused: Connection refused\n\tat org.apache.…"
)
CUT_ANSWER = (
    "An error occurred while calling o75.sql.\n: java.io.UncheckedIOException: org.apache.http."
    "ConnectionClosedException: Premature end of Content-Length delimited message body (expected: 1,042; received: 0)"
    f"\n\tat {SDK}.protocols.xml.internal.unmarshall.XmlResponseParserUtils.parse(…)\n\tat …"
)
LOAD = "An error occurred while calling o50.load.\n: "
DENIED = f"{LOAD}java.nio.file.AccessDeniedException: "
WITHOUT_CREDENTIALS = (
    f"{DENIED}s3a://logs/a.jsonl: org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided by "
    f"EnvironmentVariableCredentialsProvider : {SDK}.core.exception.SdkClientException: Unable to load …"
)
WRONG_CREDENTIALS = (
    f"{DENIED}s3a://logs/a: listObjects() on s3a://logs/a: {SDK}.services.s3.model.S3Exception: The AWS Access Key Id "
    "you provided does not exist in our records. (Service: S3, Status Code: 403, Request ID: IGm):InvalidAccessKeyId\n…"
)
REFUSED_HEAD = (  # the answer to a HEAD request has no text
    f"{DENIED}s3a://logs/a: getFileStatus on s3a://logs/a: {SDK}.services.s3.model.S3Exception: null (Service: S3, "
    "Status Code: 403, Request ID: cy2, Extended Request ID: 0hc) (SDK Attempt Count: 1):null\n\tat org.apache.…"
)
WITHOUT_BUCKET = (
    f"{LOAD}org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://nowhere/x.jsonl': getFileStatus on "
    f"s3a://nowhere/x.jsonl: {SDK}.services.s3.model.NoSuchBucketException: The specified bucket does not exist "
    "(Service: S3, Status Code: 404, Request ID: U):NoSuchBucket: The …"
)
NETWORK = "check the network and `fs.s3a.endpoint`"


@pytest.mark.parametrize(
    ("message", "begin", "remedy"),
    [
        (
            UNANSWERED,
            "the object store does not answer for s3a://lake/t/v0.json (Unable to execute HTTP request: Connect to "
            "127.0.0.1:34451 [/127.0.0.1] failed: Connection refused): ",
            NETWORK,
        ),
        (
            CUT_ANSWER,
            "the object store does not answer (Premature end of Content-Length delimited message body (expected: "
            "1,042; received: 0)): ",
            NETWORK,
        ),
        (
            WITHOUT_CREDENTIALS,
            "the object store refuses s3a://logs/a.jsonl (No AWS Credentials provided by "
            "EnvironmentVariableCredentialsProvider): ",
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        ),
        (
            WRONG_CREDENTIALS,
            "the object store refuses s3a://logs/a: The AWS Access Key Id you provided does not exist in our records. "
            "(Service: S3, Status Code: 403): ",
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
        (
            REFUSED_HEAD,
            "the object store refuses s3a://logs/a: (Service: S3, Status Code: 403): ",
            "the rights that the store gives them",
        ),
        (
            WITHOUT_BUCKET,
            "the object store lacks the bucket of s3a://nowhere/x.jsonl (The specified bucket does not exist): ",
            "correct the path, or make the bucket",
        ),
    ],
)
def test_a_failed_request_is_explained_in_one_line(message, begin, remedy):
    said = error_causes.explain(message)
    assert said.startswith(begin) and remedy in said and said.endswith("run again: complete tables are kept")
    assert len(said.splitlines()) == 1
    assert explain(RuntimeError(message), "models/a.py", "") == said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no MemoryError, but the word of it", "ValueError: no MemoryError, but the word of it"),
        ("while reading file s3a://logs/a.jsonl.gz: not in gzip format", "s3a://logs/a.jsonl.gz could not be read: "),
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
