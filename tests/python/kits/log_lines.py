"""Lines of a log as Spark hands them to a check."""

import pyarrow as pa

from dbt_tangles.ingest.line_checks import INPUT_SCHEMA


def batch_of(lines, lengths=None):
    """Put lines into a record batch; their lengths are their own unless they were truncated."""
    count = len(lines)
    columns = [["log.jsonl"] * count, [5] * count, list(range(count)), lines]
    columns.append([len(line or b"") for line in lines] if lengths is None else lengths)
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, INPUT_SCHEMA, strict=True)],
        schema=INPUT_SCHEMA,
    )
