"""Writes the values of a row as one text, to be hashed; this takes a fraction of the time of JSON."""

import hashlib
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType, VariantType

_NULL = "-"
#: Types that are written as JSON, because casting their values to text is not injective.
_NESTED = (ArrayType, BinaryType, MapType, StructType, VariantType)


def row_text(rows: DataFrame, names: Sequence[str]) -> Column:
    """Return some columns of a row as one text that differs for different values and for different columns.

    Each string is preceded by its length, so that two neighbouring values cannot be confused with two others. (Hashing
    several columns at once would avoid the text; Sail 0.6.6 panics on that if one column is constant.)
    """
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    nested = [name for name in names if isinstance(kinds[name], _NESTED)]
    columns = hashlib.sha256(",".join(names).encode()).hexdigest()[:16]
    texts = [sf.lit(columns), *(_text(name, kinds[name]) for name in names if name not in nested)]
    if nested:
        texts.append(sf.to_json(sf.struct(*nested)))
    return sf.concat_ws(",", *texts)


def _text(name: str, kind: DataType) -> Column:
    if isinstance(kind, StringType):
        return sf.coalesce(sf.concat(sf.length(name).cast("string"), sf.lit(":"), sf.col(name)), sf.lit(_NULL))
    return sf.coalesce(sf.col(name).cast("string"), sf.lit(_NULL))
