"""Explains errors of object stores (s3a://) in one line with a remedy."""

import re

_AGAIN = "and run again: complete tables are kept"
_PLACE = r"\b(s3a://[^\s:`']+)"
#: The end of a cause; Hadoop and the AWS SDK repeat the cause behind it.
_END = r" *(?:: *software\.|: *\w+$|$)"

# Patterns of errors and their explanations; the first match counts.
_EXPLAINED = [
    (
        re.compile(rf"{_PLACE}.*?SdkClientException: (Unable to execute HTTP request: .+?){_END}", re.M),
        f"the object store does not answer for {{0}} ({{1}}): check the network and `fs.s3a.endpoint`, {_AGAIN}",
    ),
    (
        re.compile(rf"AccessDeniedException: {_PLACE}.*?: (No AWS Credentials.*?){_END}", re.M),
        "the object store refuses {0} ({1}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or "
        f"another provider of credentials, {_AGAIN}",
    ),
    (
        re.compile(rf"AccessDeniedException: {_PLACE}.*?S3Exception: (?:null )?(.*?\(Service: S3, Status Code: 403)"),
        "the object store refuses {0}: {1}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, and "
        f"the rights that the store gives them, {_AGAIN}",
    ),
    (
        # An answer that ends early: the SDK's own error, to which Hadoop adds no path.
        re.compile(r"UncheckedIOException: [\w.]+: (.+)\n\s*at software\.amazon\."),
        f"the object store does not answer ({{0}}): check the network and `fs.s3a.endpoint`, {_AGAIN}",
    ),
    (
        re.compile(rf"UnknownStoreException: `{_PLACE}.*?: (The specified bucket does not exist)", re.M),
        f"the object store lacks the bucket of {{0}} ({{1}}): correct the path, or make the bucket, {_AGAIN}",
    ),
    (
        re.compile(r'No FileSystem for scheme "(s3n?)"'),
        f"Spark cannot read a path that begins with {{0}}://: write s3a://, {_AGAIN}",
    ),
    (
        re.compile(r"Class (org\.apache\.hadoop\.fs\.s3a\.\w+) not found"),
        "Spark lacks {0}, which reads s3a://: add the jar hadoop-aws in the version of Spark's Hadoop, and the AWS SDK "
        f"that it needs, to `spark.jars`, {_AGAIN}",
    ),
    (
        re.compile(r"NoClassDefFoundError: (software/amazon/[\w/$]+)"),
        "Spark lacks {0}, which reads s3a://: add the AWS SDK, and since Hadoop 3.5 analyticsaccelerator-s3, in the "
        f"versions that hadoop-aws needs, to `spark.jars`, {_AGAIN}",
    ),
]


def failed_request(message: str) -> str | None:
    """Explain an error message about a store that does not answer or refuses a request, or about a wrong setup."""
    for pattern, said in _EXPLAINED:
        if found := pattern.search(message):
            return said.format(*found.groups())
    return None
