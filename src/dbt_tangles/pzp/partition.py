"""The authority of keys as a function over the batches of a Spark partition that holds whole accounts."""

from collections.abc import Iterator

import pyarrow as pa

from dbt_tangles.partition import ROWS_PER_BATCH, collect
from dbt_tangles.pzp.signers import SIGNERS_INPUT_SCHEMA, key_authority

#: One row per question, with the answer.
AUTHORITY_SCHEMA = pa.schema(
    [
        *(SIGNERS_INPUT_SCHEMA.field(name) for name in ("account_id", "account_tips", "sigkey")),
        ("is_key_authorised", pa.bool_()),
    ]
)


def authority_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer the questions of a partition.

    Raises:
        ValueError: What `key_authority` raises.
    """
    table = collect(batches)
    if table is None:
        return
    table = table.append_column("is_key_authorised", key_authority(table))
    questions = table.filter(table["message_id"].is_null()).select(AUTHORITY_SCHEMA.names)
    yield from questions.cast(AUTHORITY_SCHEMA).to_batches(max_chunksize=ROWS_PER_BATCH)
