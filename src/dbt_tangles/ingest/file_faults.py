"""Faults of files: why a file of a log is not read, or not read to its end."""


class Fault:
    """Codes of the faults of files, as in the tables."""

    TRUNCATED = "truncated_file"
    TRAILING_GARBAGE = "trailing_garbage"
    CORRUPT = "corrupt_file"
    NOT_COMPRESSED = "not_compressed"
    UNSUPPORTED = "unsupported_compression"
    DANGLING_LINK = "dangling_link"
    OVER_LIMIT = "over_unpack_limit"


#: Explanations of the faults.
FAULTS = {
    Fault.TRUNCATED: "The compressed file ends early. What is there is read.",
    Fault.TRAILING_GARBAGE: "Something else follows the compressed data. The data are read, the rest is not.",
    Fault.CORRUPT: "The compressed data, or their checksum, are wrong from some place on. What is before is read.",
    Fault.NOT_COMPRESSED: "The file is not compressed as its name says. Nothing of it is read.",
    Fault.UNSUPPORTED: "The file is compressed, by its name, in a way that is not read.",
    Fault.DANGLING_LINK: "The link leads nowhere.",
    Fault.OVER_LIMIT: "The compressed file unpacks to more than `unpack_limit` times its size. It is read up to there.",
}


class FaultError(Exception):
    """The reading of a file stopped at a fault."""

    def __init__(self, fault: str, detail: str | None = None) -> None:
        super().__init__(detail or FAULTS[fault])
        self.fault = fault
