"""Failed requests to an object store are explained in one line with a remedy; other errors stay as they are."""

import pytest

from dbt_spark_python.python_model.submit import explain
from dbt_spark_python.session.object_stores import failed_request

UNANSWERED = (
    "An error occurred while calling o75.sql.\n: org.apache.iceberg.exceptions.RuntimeIOException: Failed to refresh "
    "the table\n\tat org.apache.iceberg.hadoop.HadoopTableOperations.refresh(HadoopTableOperations.java:126)\n"
    "Caused by: java.net.ConnectException: getFileStatus on s3a://lake/t/runs/metadata/v0.metadata.json: "
    "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request: Connect to "
    "127.0.0.1:34451 [/127.0.0.1] failed: Connection refused:    software.amazon.awssdk.core.exception."
    "SdkClientException: Unable to execute HTTP request: Connect to 127.0.0.1:34451 [/127.0.0.1] failed: Connection "
    "refused: Connection refused\n\tat org.apache.…"
)
CUT_ANSWER = (
    "An error occurred while calling o75.sql.\n: java.io.UncheckedIOException: org.apache.http."
    "ConnectionClosedException: Premature end of Content-Length delimited message body (expected: 1,042; received: 0)"
    "\n\tat software.amazon.awssdk.protocols.xml.internal.unmarshall.XmlResponseParserUtils.parse(…)\n\tat …"
)
WITHOUT_CREDENTIALS = (
    "An error occurred while calling o50.load.\n: java.nio.file.AccessDeniedException: s3a://logs/a.jsonl: "
    "org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided by "
    "EnvironmentVariableCredentialsProvider : software.amazon.awssdk.core.exception.SdkClientException: Unable to load "
    "credentials from system settings. Access key must be specified either via environment variable …"
)
WRONG_CREDENTIALS = (
    "An error occurred while calling o50.load.\n: java.nio.file.AccessDeniedException: s3a://logs/a: listObjects() on "
    "s3a://logs/a: software.amazon.awssdk.services.s3.model.S3Exception: The AWS Access Key Id you provided does not "
    "exist in our records. (Service: S3, Status Code: 403, Request ID: IGm):InvalidAccessKeyId\n\tat org.apache.…"
)
REFUSED_HEAD = (  # the answer to a HEAD request has no text
    "An error occurred while calling o50.load.\n: java.nio.file.AccessDeniedException: s3a://logs/a: getFileStatus on "
    "s3a://logs/a: software.amazon.awssdk.services.s3.model.S3Exception: null (Service: S3, Status Code: 403, Request "
    "ID: cy2, Extended Request ID: 0hc) (SDK Attempt Count: 1):null\n\tat org.apache.…"
)
WITHOUT_BUCKET = (
    "An error occurred while calling o48.load.\n: org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://nowhere/x.jsonl'"
    ": getFileStatus on s3a://nowhere/x.jsonl: software.amazon.awssdk.services.s3.model.NoSuchBucketException: The "
    "specified bucket does not exist (Service: S3, Status Code: 404, Request ID: U):NoSuchBucket: The …"
)
OTHER_SCHEME = (
    "An error occurred while calling o56.load.\n: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem "
    'for scheme "s3"\n\tat org.apache.hadoop.fs.FileSystem.getFileSystemClass(…)'
)
WITHOUT_JAR = (
    "An error occurred while calling o45.load.\n: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class "
    "org.apache.hadoop.fs.s3a.S3AFileSystem not found\n\tat org.apache.hadoop.conf.Configuration.getClass(…)"
)
WITHOUT_SDK = (
    "An error occurred while calling o45.load.\n: java.lang.NoClassDefFoundError: software/amazon/s3/"
    "analyticsaccelerator/request/ObjectClient\n\tat java.base/java.lang.Class.forName0(Native Method)\n\tat …"
)


@pytest.mark.parametrize(
    ("message", "begin", "remedy"),
    [
        (
            UNANSWERED,
            "the object store does not answer for s3a://lake/t/runs/metadata/v0.metadata.json (Unable to execute HTTP "
            "request: Connect to 127.0.0.1:34451 [/127.0.0.1] failed: Connection refused): ",
            "check the network and `fs.s3a.endpoint`",
        ),
        (
            CUT_ANSWER,
            "the object store does not answer (Premature end of Content-Length delimited message body (expected: "
            "1,042; received: 0)): ",
            "check the network and `fs.s3a.endpoint`",
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
        (OTHER_SCHEME, "Spark cannot read a path that begins with s3://: ", "write s3a://"),
        (WITHOUT_JAR, "Spark lacks org.apache.hadoop.fs.s3a.S3AFileSystem, ", "add the jar hadoop-aws"),
        (
            WITHOUT_SDK,
            "Spark lacks software/amazon/s3/analyticsaccelerator/request/ObjectClient, ",
            "since Hadoop 3.5 analyticsaccelerator-s3",
        ),
    ],
)
def test_a_failed_request_is_explained_in_one_line(message, begin, remedy):
    said = failed_request(message)
    assert said.startswith(begin) and remedy in said and said.endswith("run again: complete tables are kept")
    assert len(said.splitlines()) == 1
    assert explain(RuntimeError(message), "models/a.py", "") == said


def test_other_errors_stay_as_they_are():
    """The path of an object in an error of another kind is no failed request."""
    message = "while reading file s3a://logs/a.jsonl.gz: not in gzip format"
    assert failed_request(message) is None
    assert explain(RuntimeError(message), "models/a.py", "").startswith("s3a://logs/a.jsonl.gz could not be read: ")
