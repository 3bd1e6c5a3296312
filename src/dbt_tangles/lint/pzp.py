"""Findings in pzp logs: lines, shapes and signatures, as in `pzp_rejects`."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.formats.pzp.verify_lines import VerifyOptions, verify_batches


def check_lines(database: duckdb.DuckDBPyConnection, batches: Iterator[pa.RecordBatch]) -> int:
    """Verify the lines of pzp logs, and write the findings into the table `found`; see `ssb.check_lines`."""
    count = 0
    for batch in verify_batches(batches, VerifyOptions()):
        database.register("batch", pa.Table.from_batches([batch]))
        database.execute(
            """insert into found select source_file, row_id + 1, line_digest, reject_reason, detail, message_id, 1
            from batch where reject_reason is not null"""
        )
        count += len(batch)
    return count
