"""Findings in pzp logs: lines, shapes and signatures, as in `pzp_rejects`."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.formats.pzp.verify_lines import VerifyOptions, verify_batches
from dbt_tangles.lint.line_table import store_lines

_REJECTED = """select source_file, line, line_digest, reject_reason, detail, message_id, 1 as line_count
from batch where reject_reason is not null"""


def check_lines(database: duckdb.DuckDBPyConnection, batches: Iterator[pa.RecordBatch]) -> int:
    """Verify the lines of pzp logs, and write the findings into the table `found`; see `ssb.check_lines`."""
    count = store_lines(database, verify_batches(batches, VerifyOptions()), _REJECTED)
    if count:
        database.execute("insert into found from lines")
    return count
