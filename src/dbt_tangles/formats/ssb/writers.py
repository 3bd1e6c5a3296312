"""Lists the permitted writers of the tangle of a root: its author, and the feeds that a field of the root names.

Source: SSB improvement proposal "Tangles": a type specifies its candidates. The marker `*` is that of ssb-crut 6.1.1.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from dbt_tangles.formats.ssb.contents import parse_content
from dbt_tangles.kernel_runtime.row_schema import array_of, columns_of, fields_of

#: A root that names this admits every author.
ANYONE = "*"


class WriterRow(NamedTuple):
    """A row of the result: a permitted writer of a tangle."""

    tangle_name: str
    root_id: str
    writer: str


#: One row per root of a restricted type. `writers_field` is null if only the author may write.
INPUT_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("tangle_name", "root_id", "author", "writers_field", "content")]
)
OUTPUT_SCHEMA = pa.schema(fields_of(WriterRow))


def list_writers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """List the permitted writers of each tangle.

    Args:
        batches: Rows of `INPUT_SCHEMA`.

    Yields:
        A row of `OUTPUT_SCHEMA` for each root and author. A root that admits every author has no rows.
    """
    for batch in batches:
        rows = []
        for root in batch.to_pylist():
            named = named_feeds(parse_content(root["content"]), root["writers_field"])
            if ANYONE not in named:
                names = dict.fromkeys([root["author"], *named])
                rows += [WriterRow(root["tangle_name"], root["root_id"], name) for name in names]
        columns = columns_of(WriterRow, rows)
        yield pa.RecordBatch.from_arrays(
            [array_of(columns[field.name], field.type) for field in OUTPUT_SCHEMA], schema=OUTPUT_SCHEMA
        )


def named_feeds(content: dict[str, Any] | None, field: str | None) -> list[str]:
    """List the texts that a field of a content names.

    Args:
        content: The content of a root.
        field: The field: a text, a list of texts, or an object with a key for each name. An object may be a
            transformation of a simple or complex set: keys without a weight above 0 are left out.
    """
    value = (content or {}).get(field) if field else None
    if type(value) is str:
        return _encodable([value])
    if type(value) is list:
        return _encodable([name for name in value if type(name) is str])
    if type(value) is dict:
        return _encodable([name for name, weight in value.items() if _adds(weight)])
    return []


def _adds(weight: Any) -> bool:
    """Whether the value of a key adds it: a number above 0, an object with such a number, or any other value."""
    if type(weight) is dict:
        return any(_adds(each) for each in weight.values() if type(each) in (int, float))
    return type(weight) not in (int, float) or weight > 0


def _encodable(names: list[str]) -> list[str]:
    """Leave out texts with lone surrogates, which are not feed ids and which Arrow cannot hold."""
    return [name for name in names if not any("\ud800" <= letter <= "\udfff" for letter in name)]
