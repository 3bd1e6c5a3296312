"""What every check of a log's lines takes."""

import pyarrow as pa

#: The longest line that is read, in bytes.
MAX_LINE_BYTES = 2**21

#: Where a line is; what the checks pass on.
PLACE = (
    pa.field("source_file", pa.string()),
    pa.field("block_start", pa.int64()),
    pa.field("row_id", pa.int64()),
)

#: `raw` may be cut by the caller where `raw_length`, in bytes, exceeds the longest line that is read.
INPUT_SCHEMA = pa.schema([*PLACE, pa.field("raw", pa.binary()), pa.field("raw_length", pa.int64())])

# A batch of more bytes is worked on in slices of few rows, so that no column outgrows Arrow's 32-bit offsets.
SLICE_BYTES = 2**26
SLICE_ROWS = 32
