"""Order of every base for the observer `all`, and its change from the order that an earlier run published."""

from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import earlier, only_changed

UPDATE = ("previous_publication", "publication", "kept", "undone", "appended")


def model(dbt, spark):
    views = only_changed(spark, dbt.this, dbt.ref("int_autobase_views"), "base_id", dbt.ref("int_base_versions"))
    current = views.where("observer = 'all'").select("base_id", "position", "node_id")
    names = current.groupBy("base_id").agg(sf.count("*").cast("int").alias("length"), digest().alias("now"))
    published = earlier(spark, dbt.this)
    if published is not None:
        updates = from_published(current, names, published)
    else:
        updates = names.select(
            "base_id",
            sf.lit(None).cast("string").alias("previous_publication"),
            sf.col("now").alias("publication"),
            sf.lit(0).alias("kept"),
            sf.lit(0).alias("undone"),
            sf.col("length").alias("appended"),
        )
    # The change is stored on the first row of its base.
    return current.join(updates.withColumn("position", sf.lit(0)), ["base_id", "position"], "left")


def digest():
    """Return the digest of an order: a sum over hashes of its nodes and their places."""
    places = sf.sha2(sf.concat(sf.col("position").cast("string"), sf.lit(" "), "node_id"), 256)
    halves = [sf.sum(sf.conv(sf.substring(places, at, 15), 16, 10).cast("decimal(38, 0)")) for at in (1, 16)]
    parts = [part.cast("string") for part in (sf.count("*"), *halves)]
    return sf.sha2(sf.concat_ws(" ", *parts), 256)


def from_published(current, names, published):
    """Return the change from the published order of each base to the current one; an equal order keeps its change."""
    before = published.groupBy("base_id").agg(
        sf.count("*").cast("int").alias("old_length"), *(sf.max(name).alias(name) for name in UPDATE)
    )
    old_nodes = published.select("base_id", "position", sf.col("node_id").alias("old_node"))
    differing = (
        current.join(old_nodes, ["base_id", "position"])
        .where("node_id <> old_node")
        .groupBy("base_id")
        .agg(sf.min("position").alias("first_difference"))
    )
    compared = names.join(before, "base_id", "left").join(differing, "base_id", "left")
    compared = compared.withColumn("old_length", sf.coalesce("old_length", sf.lit(0)))
    compared = compared.withColumn("same", sf.coalesce("first_difference", sf.least("length", "old_length")))
    is_same = sf.expr("same = length and same = old_length")

    def unless_same(name, column):
        return sf.when(is_same, sf.col(name)).otherwise(column).alias(name)

    return compared.select(
        "base_id",
        unless_same("previous_publication", sf.col("publication")),
        sf.col("now").alias("publication"),
        unless_same("kept", sf.col("same")),
        unless_same("undone", sf.col("old_length") - sf.col("same")),
        unless_same("appended", sf.col("length") - sf.col("same")),
    )
