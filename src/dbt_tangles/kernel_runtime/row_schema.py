"""Arrow schemas and columns derived from the annotations of row classes.

The annotation of a field determines its column type: `str`, `bytes`, `bool` and `float` have one Arrow type each, a
sequence is a list, a named tuple is a struct. For integers the field names the Arrow type (`Int32`, or ``Annotated[...,
type]``). A trailing underscore is removed from a field's name, so that columns may have Python keywords as names.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pyarrow as pa

Int32 = Annotated[int, pa.int32()]
Int64 = Annotated[int, pa.int64()]

#: Maximum number of rows of a batch made from Python values, and of bytes, roughly; a larger row ends its batch.
ROWS_PER_BATCH, BYTES_PER_BATCH = 5_000, 2**23

_TYPES = {bool: pa.bool_(), bytes: pa.binary(), float: pa.float64()}


def schema_of(row: type) -> pa.Schema:
    """Return the columns of a row class, in the order of its fields."""
    return pa.schema([(_column(name), arrow_type(hint)) for name, hint in _hints(row).items()])


def required_columns(row: type) -> set[str]:
    """Return the columns of a row class that must not be null: those without None among their types."""
    return {_column(name) for name, hint in _hints(row).items() if NoneType not in get_args(hint)}


def rows_of(batches: Iterable[pa.RecordBatch], row: type) -> Iterator[Any]:
    """Read the rows of batches, with the columns of a row class, as instances of it."""
    names = schema_of(row).names
    for batch in batches:
        yield from map(row._make, zip(*(batch[name].to_pylist() for name in names), strict=True))


def batch_of(row: type, rows: Sequence[Any]) -> pa.RecordBatch:
    """Make a batch of rows of a class."""
    return pa.RecordBatch.from_pydict(columns_of(row, rows), schema_of(row))


def batches_of_rows(row: type, rows: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Make batches of rows of a class, of bounded size."""
    part, size = [], 0
    for each in rows:
        part.append(each)
        size += _size(each)
        if len(part) == ROWS_PER_BATCH or size >= BYTES_PER_BATCH:
            yield batch_of(row, part)
            part, size = [], 0
    if part:
        yield batch_of(row, part)


def arrow_type(hint: Any) -> pa.DataType:
    """Map an annotation to its Arrow type; every type is nullable."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        return arguments[1]
    if NoneType in arguments:
        [hint] = (argument for argument in arguments if argument is not NoneType)
        return arrow_type(hint)
    if get_origin(hint) in (list, tuple, Sequence):
        return pa.list_(arrow_type(arguments[0]))
    if hasattr(hint, "_fields"):
        return pa.struct(list(schema_of(hint)))
    return pa.string() if issubclass(hint, str) else _TYPES[hint]


def columns_of(row: type, rows: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """Transpose rows of a class (or of a subclass) into the values of each column, by column name."""
    names = list(_hints(row))
    values = zip(*map(attrgetter(*names), rows), strict=True) if rows else [()] * len(names)
    return dict(zip(map(_column, names), values, strict=True))


def _size(value: Any) -> int:
    """Estimate the bytes of a value in Arrow."""
    if isinstance(value, str | bytes):
        return len(value)
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 8


@cache
def _hints(row: type) -> dict[str, Any]:
    return get_type_hints(row, include_extras=True)


def _column(field: str) -> str:
    return field.removesuffix("_")
