"""Reduced by group: a table that a kernel makes of groups of rows, each by itself, and of what the table was before.

A model whose materialization leaves the earlier table to it reads like this:

    def model(dbt, spark):
        orders = dbt.ref("orders").select("shop", "day", "amount")
        return reduced_by_group(orders, ["shop"], kernel, SCHEMA, earlier(spark, dbt.this))

Each row of the table has the digest of all rows that its group was made of. A group whose rows have that digest still
keeps its rows; a group whose rows do not is made again, and one that has no rows any more goes. So rows and state are
published together, and what counts is what is there, not what ran before. A kernel has to make of a group's rows the
same in any order, and whatever other groups come with it.
"""

from collections.abc import Callable, Collection
from functools import partial, reduce

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dbt_spark_python import group_digests, sail
from dbt_spark_python.columns import arrow_schema
from dbt_spark_python.earlier import Few, compared
from dbt_spark_python.row_texts import row_digest

# A cluster's workers have what is sent to them; importing this package takes dbt.
cloudpickle.register_pickle_by_value(group_digests)

#: The column of the digests.
DIGEST = "group_digest"
_ROW = "row_digest"


def reduced_by_group(
    rows: DataFrame,
    keys: list[str],
    kernel: Callable[[group_digests.Batches], group_digests.Batches],
    schema: pa.Schema | StructType | str,
    earlier: DataFrame | None = None,
    derived: DataFrame | None = None,
    uncounted: Collection[str] = (),
    gives_rows: Column | None = None,
    keeps_rows: bool = False,
    looked_at: Callable[[group_digests.Batches], group_digests.Batches] | None = None,
    touched: DataFrame | None = None,
) -> DataFrame:
    """Make a table of groups, those alone that are not what they were.

    Args:
        rows: What the groups are made of.
        keys: The columns that name a group; the result has them too.
        kernel: Takes the rows of whole groups, as record batches, and returns rows of `schema`.
        schema: Of the result but for the digest: Arrow's, Spark's, or as SQL has it.
        earlier: The table as it was before, made with the same kernel in the same way, under the names of `schema`;
            see `earlier.earlier`. Without it every group is made.
        derived: Other rows for the kernel, which follow from those of their group and so decide nothing: they may
            differ from run to run where these do not.
        uncounted: Columns that follow from the others, of which the digest is to know nothing: secrets, say, of which
            there are fingerprints.
        gives_rows: An aggregate of `rows` that is true of every group of which the kernel makes a row. The table knows
            nothing of the others, which without this are looked at each time.
        keeps_rows: The kernel returns each row of `rows` with more columns. Then the table says itself what it was made
            of, and has no digest: nothing of this costs a first build anything.
        looked_at: Leaves groups out of a partition's rows of which the kernel would make none: those that are too large
            for it, say. All that it passes on is held by the worker. Not with `keeps_rows`.
        touched: The groups that may be others than they were, by some of the columns of `keys`; see `earlier.touched`.
            Without it the digests of all groups are compared.

    Returns:
        Rows of `schema`, with `group_digest` behind them unless `keeps_rows`.
    """
    arrow = _arrow_schema(rows, schema)
    counted = [name for name in rows.columns if name not in uncounted]
    given = rows
    if not keeps_rows:
        arrow = arrow.append(pa.field(DIGEST, pa.binary()))
        given = rows.withColumn(_ROW, sf.unhex(row_digest(rows, counted)))
        kernel = partial(
            group_digests.reduce_partition, keys=keys, row=_ROW, kernel=kernel, schema=arrow, looked_at=looked_at
        )
    if derived is not None:
        given = given.unionByName(derived, allowMissingColumns=True)
    kept = None
    if earlier is not None:
        names = keys if touched is None else touched.columns
        if touched is None:
            now = digest_groups(rows.select(counted), keys, gives_rows)
            if keeps_rows:
                before = digest_groups(earlier.select(counted), keys, gives_rows)
            else:
                before = earlier.select(*keys, DIGEST).distinct()
            touched = compared(now, before).where("is_now <> was_before").select(*keys)
        changes = Few(touched.distinct())
        given = join_groups(given, names, changes.sent(changes.rows), "left_semi")
        kept = join_groups(earlier, names, changes.sent(changes.rows), "left_anti")
    made = sail.map_in_arrow(sail.gather(given, *keys), kernel, from_arrow_schema(arrow))
    return made if kept is None else kept.unionByName(made)


def digest_groups(rows: DataFrame, keys: list[str], wanted: Column | None = None) -> DataFrame:
    """Digest the rows of each group, as `group_digests.digest_groups` does: one row a group, its keys and the digest.

    Groups of which an aggregate is not true are left out.

    Two groups of other rows have other digests, whoever chose the rows: they are hashed in order, and not added up.
    """
    joined = sf.array_join(sf.sort_array(sf.collect_list(row_digest(rows, rows.columns))), "")
    wanted = sf.lit(True) if wanted is None else wanted
    groups = rows.groupBy(*keys).agg(sf.unhex(sf.sha2(sf.unhex(joined), 256)).alias(DIGEST), wanted.alias("is_wanted"))
    return groups.where("is_wanted").drop("is_wanted")


def join_groups(rows: DataFrame, keys: list[str], groups: DataFrame, how: str) -> DataFrame:
    """Join rows with the names of groups; a key that is null is equal to null, which not every engine joins fast."""
    names = [(f"group_key_{place}", f"group_key_{place}_is_null") for place in range(len(keys))]
    groups = groups.select(
        *(_text(key).alias(text) for key, (text, _) in zip(keys, names, strict=True)),
        *(sf.col(key).isNull().alias(is_null) for key, (_, is_null) in zip(keys, names, strict=True)),
    )
    equal = [
        (_text(key) == sf.col(text)) & (sf.col(key).isNull() == sf.col(is_null))
        for key, (text, is_null) in zip(keys, names, strict=True)
    ]
    return rows.join(groups, reduce(Column.__and__, equal), how)


def _text(key: str) -> Column:
    return sf.coalesce(sf.col(key).cast("string"), sf.lit(""))


def _arrow_schema(rows: DataFrame, schema: pa.Schema | StructType | str) -> pa.Schema:
    if isinstance(schema, str):
        schema = rows.sparkSession.createDataFrame([], schema).schema
    return schema if isinstance(schema, pa.Schema) else arrow_schema(schema)
