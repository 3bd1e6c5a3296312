"""Lists the permitted writers of the tangle of a root: its author, and the feeds that a field of the root names.

Source: SSB improvement proposal "Tangles": a type specifies its candidates. The marker `*` is that of ssb-crut 6.1.1.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa

from dbt_tangles.formats.json.strings import SURROGATE
from dbt_tangles.formats.ssb.contents import parse_content
from dbt_tangles.kernel_runtime.row_schema import batches_of_rows, rows_of, schema_of

#: A root that names this admits every author.
ANYONE = "*"


class Root(NamedTuple):
    """A root of a restricted type."""

    tangle_name: str
    root_id: str
    author: str
    writers_field: str | None  # Null if only the author may write
    content: str | None


class Writer(NamedTuple):
    """A permitted writer of a tangle."""

    tangle_name: str
    root_id: str
    writer: str


INPUT_SCHEMA, OUTPUT_SCHEMA = schema_of(Root), schema_of(Writer)


def list_writers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """List the permitted writers of tangles: rows of `Writer`, from rows of `Root`.

    A root that admits every author has no rows.
    """
    return batches_of_rows(Writer, chain.from_iterable(map(_writers_of, rows_of(batches, Root))))


def _writers_of(root: Root) -> Iterator[Writer]:
    named = named_feeds(parse_content(root.content), root.writers_field)
    if ANYONE not in named:
        for name in dict.fromkeys([root.author, *named]):
            yield Writer(root.tangle_name, root.root_id, name)


def named_feeds(content: dict[str, Any] | None, field: str | None) -> list[str]:
    """List the texts that a field of a content names.

    Args:
        content: The content of a root.
        field: The field: a text, a list of texts, or an object with a key for each name. An object may be a
            transformation of a simple or complex set: keys without a weight above 0 are left out.
    """
    value = (content or {}).get(field) if field else None
    names = [value]
    if type(value) is list:
        names = value
    elif type(value) is dict:
        names = [name for name, weight in value.items() if _adds(weight)]
    # Texts with lone surrogates are not feed ids, and Arrow cannot hold them.
    return [name for name in names if type(name) is str and not SURROGATE.search(name)]


def _adds(weight: Any) -> bool:
    """Whether the value of a key adds it: a number above 0, an object with such a number, or any other value."""
    if type(weight) is dict:
        return any(_adds(each) for each in weight.values() if type(each) in (int, float))
    return type(weight) not in (int, float) or weight > 0
