"""The schema of the lines of a log's files, and the limits for reading them."""

from dataclasses import dataclass

import pyarrow as pa

#: The rows of `unpack`: a line, or, if `fault` is not null, the fault of a file.
LINE_SCHEMA = pa.schema(
    [
        pa.field("source_file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("raw", pa.binary()),
        pa.field("raw_length", pa.int64()),
        pa.field("fault", pa.string()),
        pa.field("fault_detail", pa.string()),
    ]
)

#: The largest ratio of a file's unpacked size to its size. JSON logs compress by 3 to 30, zeros by 1,000 (gzip) to
#: 1,000,000 (bzip2).
UNPACK_RATIO = 200
#: Any file may unpack to this many bytes.
FREE_BYTES = 2**24
#: The cost of a line in addition to its bytes, within those limits: every line becomes a row, even an empty one.
LINE_COST = 64


@dataclass(frozen=True)
class Reading:
    r"""The line format of files, and the limits for reading them.

    Attributes:
        max_bytes: Longer lines are cut; only the kept part takes memory.
        separator: The text between two lines. If it is not a line feed, blank lines are skipped, and carriage returns
            are read as line ends (`\r\n` as one).
        unpack_ratio: The largest ratio of unpacked to compressed size; `FREE_BYTES` are always allowed, and each line
            costs `LINE_COST` additional bytes.
    """

    max_bytes: int
    separator: str = "\n"
    unpack_ratio: int = UNPACK_RATIO

    @property
    def is_by_line(self) -> bool:
        """Whether each line ends in a line feed."""
        return self.separator == "\n"
