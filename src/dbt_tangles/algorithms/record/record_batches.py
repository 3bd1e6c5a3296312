"""Reduces the records in the rows of a Spark partition: one call of `reduce_record` for each tangle."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

import orjson
import pyarrow as pa

from dbt_tangles.algorithms.record.graph import LeftOut, Member
from dbt_tangles.algorithms.record.reduction import FieldState, reduce_record
from dbt_tangles.formats.ssb.contents import parse_content
from dbt_tangles.kernel_runtime.arrow_batches import collect
from dbt_tangles.kernel_runtime.row_schema import array_of, columns_of, fields_of

#: Records per batch returned to Spark.
RECORDS_PER_BATCH = 5_000


class RecordRow(NamedTuple):
    """A row of the result: the tangle, and its `reduction.Record`."""

    tangle_name: str
    root_id: str
    status: str
    tips: list[str]
    fields: list[FieldState]
    left_out: list[LeftOut]


#: One row per member of each record; `reducer` is the JSON map of fields to strategies, `content` the JSON text.
INPUT_SCHEMA = pa.schema(
    [
        ("tangle_name", pa.string()),
        ("root_id", pa.string()),
        ("message_id", pa.string()),
        ("depth", pa.int32()),
        ("previous", pa.list_(pa.string())),
        ("content", pa.string()),
        ("reducer", pa.string()),
    ]
)
OUTPUT_SCHEMA = pa.schema(fields_of(RecordRow))


def reduce_record_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Reduce the records of a partition of whole tangles.

    Args:
        batches: Rows of `INPUT_SCHEMA`, in any order.

    Yields:
        A row of `OUTPUT_SCHEMA` for each record.

    Raises:
        ValueError: A member lists an id from outside of the earlier members of its tangle.
    """
    table = collect(batches)
    if table is None:
        return
    table = table.sort_by([(name, "ascending") for name in ("tangle_name", "root_id", "depth", "message_id")])
    rows: list[RecordRow] = []
    for row in _records(table):
        rows.append(row)
        if len(rows) == RECORDS_PER_BATCH:
            yield _batch(rows)
            rows = []
    if rows:
        yield _batch(rows)


def _records(table: pa.Table) -> Iterator[RecordRow]:
    rows = (row for batch in table.to_batches(RECORDS_PER_BATCH) for row in batch.to_pylist())
    for (name, root), members in groupby(rows, key=lambda row: (row["tangle_name"], row["root_id"])):
        found = list(members)
        record = reduce_record(
            [Member(row["message_id"], row["previous"] or [], parse_content(row["content"])) for row in found],
            _strategies(found[0]["reducer"]),
        )
        yield RecordRow(name, root, *record)


def _batch(rows: list[RecordRow]) -> pa.RecordBatch:
    columns = columns_of(RecordRow, rows)
    return pa.RecordBatch.from_arrays(
        [array_of(columns[field.name], field.type) for field in OUTPUT_SCHEMA], schema=OUTPUT_SCHEMA
    )


@cache
def _strategies(reducer: str) -> dict[str, str]:
    return orjson.loads(reducer)
