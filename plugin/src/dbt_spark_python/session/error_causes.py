"""Explains errors of engines, workers and object stores in one line with a remedy."""

import re

_LESS = "or let fewer tasks share it (spark.executor.cores)"
_ENDED = "as happens when a system or a cluster kills processes that exceed the memory"
_AGAIN = "and run again: complete tables are kept"
_PLACE = r"\b(s3a://[^\s:`']+)"
#: The end of a cause of an object store; Hadoop and the AWS SDK repeat the cause behind it.
_END = r" *(?:: *software\.|: *\w+$|$)"

# Patterns of errors and their explanations; the first match counts.
_EXPLAINED = {
    rf"{_PLACE}.*?SdkClientException: (Unable to execute HTTP request: .+?){_END}": (
        f"the object store does not answer for {{0}} ({{1}}): check the network and `fs.s3a.endpoint`, {_AGAIN}"
    ),
    rf"AccessDeniedException: {_PLACE}.*?: (No AWS Credentials.*?){_END}": (
        "the object store refuses {0} ({1}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or "
        f"another provider of credentials, {_AGAIN}"
    ),
    rf"AccessDeniedException: {_PLACE}.*?S3Exception: (?:null )?(.*?\(Service: S3, Status Code: 403)": (
        "the object store refuses {0}: {1}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, and "
        f"the rights that the store gives them, {_AGAIN}"
    ),
    # An answer that ends early: the SDK's own error, to which Hadoop adds no path.
    r"UncheckedIOException: [\w.]+: (.+)\n\s*at software\.amazon\.": (
        f"the object store does not answer ({{0}}): check the network and `fs.s3a.endpoint`, {_AGAIN}"
    ),
    rf"UnknownStoreException: `{_PLACE}.*?: (The specified bucket does not exist)": (
        f"the object store lacks the bucket of {{0}} ({{1}}): correct the path, or make the bucket, {_AGAIN}"
    ),
    r"^(?:\w+\.)*(?:ModuleNotFound|Import)Error: No module named '([^']+)'": (
        "a worker's Python has no module {0}. Install it there, or send it with the job (`python -m "
        "dbt_spark_python.pack workers.zip PACKAGE`, and spark.dbt.packed: workers.zip in the profile)"
    ),
    r"(Failed to allocate additional .*? memory pool: \w+\(.*\))": (
        "Sail reached its memory limit ({0}): raise it (`sail.runtime.memory_pool.greedy.max_size` in the profile, in "
        "bytes), or run one model at a time (--threads 1)"
    ),
    r"^\s*((?:\w+\.)*_?\w*MemoryError\b.*)$": (
        "Python ran out of memory on a worker ({0}): give it more (spark.executor.pyspark.memory, where that is set; "
        f"spark.executor.memoryOverhead on YARN and Kubernetes), {_LESS}"
    ),
    r"(java\.lang\.OutOfMemoryError\b.*)": (
        "Spark ran out of memory ({0}): give it more (spark.executor.memory; spark.driver.memory, where the driver "
        f"runs the tasks), {_LESS}"
    ),
    # A lost executor's shuffle files are lost too, so Spark may report the failed fetches first, and Spark 4.1 in a
    # line of their own.
    (
        r"(?:ExecutorLostFailure \(executor \S+ exited .*?\) Reason:|failed the maximum allowable number of times.*"
        r"\n?.*FetchFailedException:) (.*?)(?: SQLSTATE.*)?$"
    ): (
        f"executors were lost repeatedly ({{0}}), {_ENDED}: give them more (spark.executor.memoryOverhead for Python, "
        f"spark.executor.memory for Spark), {_LESS}"
    ),
    r"(Python worker exited unexpectedly \(crashed\))": (
        f"Python was killed on a worker repeatedly ({{0}}), {_ENDED}: give it more (spark.executor.memoryOverhead on "
        f"YARN and Kubernetes), {_LESS}"
    ),
}


def explain(message: str) -> str | None:
    """Explain the message of an error whose cause is known."""
    for pattern, said in _EXPLAINED.items():
        if found := re.search(pattern, message, re.MULTILINE):
            return said.format(*(part.strip().removesuffix(".") for part in found.groups()))
    return None


def unread_file(message: str) -> str | None:
    """Explain an error message about a file that Spark could not read, as in `… while reading file PATH: CAUSE`."""
    found = re.search(
        r"while reading file ([^\s{].*?)(?:: (.*))?\.?(?: +SQLSTATE.*| File does not exist.*)?$", message, re.M
    )
    if not found:
        return None
    causes = re.findall(r"^Caused by: (?:[\w.$]+Exception: )?(.+)$", message, re.M)
    cause = found[2] or (causes or ["it no longer exists" if "FILE_NOT_EXIST" in message else "unknown cause"])[-1]
    return (
        f"{found[1]} could not be read: {cause}. Repair it, move it away or make it readable, and run again. "
        "`gzip -dc FILE > FILE.txt` unpacks the readable part of a large damaged file"
    )
