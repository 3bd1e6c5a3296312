"""Lines of a log as Spark hands them to a check."""

import pyarrow as pa

from dbt_tangles.ingest.line_checks import INPUT_SCHEMA


def batch_of(lines, lengths=None):
    """Put lines into a record batch; their lengths are their own unless they were truncated."""
    count = len(lines)
    columns = [["log.jsonl"] * count, list(range(1, count + 1)), lines]
    columns.append([len(line or b"") for line in lines] if lengths is None else lengths)
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, INPUT_SCHEMA, strict=True)],
        schema=INPUT_SCHEMA,
    )


def verified(verify_batches, schema, lines, lengths=None):
    """Verify lines of any format; return the rows, and check that each line has one valid row at its place."""
    batches = list(verify_batches(iter([batch_of(lines, lengths)])))
    for batch in batches:
        batch.validate(full=True)
    rows = pa.Table.from_batches(batches, schema).to_pylist()
    places = [(row["source_file"], row["line"]) for row in rows]
    assert places == [("log.jsonl", line) for line in range(1, len(lines) + 1)]
    return rows


def mutated(line, chance):
    """Change, drop, double or swap bytes of a line at up to three places."""
    line = bytearray(line)
    for _ in range(chance.randrange(4)):
        place, length = chance.randrange(len(line) + 1), chance.randrange(8)
        piece = [b"", bytes([chance.randrange(256)]), b'"', b"\\ud800", b"null", bytes(line[place : place + 5])]
        line[place : place + length] = chance.choice(piece)
    return bytes(line)
