"""The values of a row as one text: what is hashed to tell rows apart, in a fraction of the time that JSON takes."""

import hashlib
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType, VariantType

_NULL = "-"
#: What is written as JSON: of such values the texts of a cast are not told apart.
_NESTED = (ArrayType, BinaryType, MapType, StructType, VariantType)


def row_text(rows: DataFrame, names: Sequence[str]) -> Column:
    """The values of some columns of a row, as a text that no other values of these columns have, nor of other columns.

    A string has its length before it, so it cannot look like the end of one value and the beginning of the next.
    (Hashing several columns at once would do without a text; on Sail 0.6.6 that panics where one of them is constant.)
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
