"""The command `tangles`: queries a warehouse's parquet files with DuckDB, read-only and without Spark."""

import time

#: The moment at which the process began, or this package was imported, in seconds of `time.monotonic`.
BEGIN = time.monotonic()
