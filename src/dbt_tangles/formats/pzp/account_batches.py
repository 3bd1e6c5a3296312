"""Key authority as a function over the Arrow batches of a Spark partition of whole accounts."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import flags
from dbt_tangles.formats.pzp.signers import SIGNERS_INPUT_SCHEMA, SIGNERS_OUTPUT_SCHEMA, key_authority
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH, collect

#: One row per question, with its result.
AUTHORITY_SCHEMA = pa.schema(
    [
        *(SIGNERS_INPUT_SCHEMA.field(name) for name in ("account_id", "account_tips", "sigkey")),
        *SIGNERS_OUTPUT_SCHEMA,
    ]
)


def authority_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Compute the results for the questions of a partition.

    Args:
        batches: Messages and questions as for `key_authority`, and rows with `is_foreign`: `account_id` and
            `message_id` of the ids that are never awaited.

    Raises:
        ValueError: As `key_authority`.
    """
    table = collect(batches)
    if table is None:
        return
    is_foreign = flags(table, "is_foreign")
    foreign, table = table.filter(pa.array(is_foreign)), table.filter(pa.array(~is_foreign))
    for name, answers in zip(SIGNERS_OUTPUT_SCHEMA.names, key_authority(table, foreign).columns, strict=True):
        table = table.append_column(name, answers)
    questions = table.filter(table["message_id"].is_null()).select(AUTHORITY_SCHEMA.names)
    yield from questions.cast(AUTHORITY_SCHEMA).to_batches(max_chunksize=ROWS_PER_BATCH)
