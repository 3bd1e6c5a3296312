"""The person of each feed with links; computed by dbt_tangles.algorithms.private_group.persons."""

from pyspark.sql import functions as sf

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.private_group.persons import find_persons


def model(dbt, spark):
    links = dbt.ref("int_person_links").select("feed", "person", "person_source").distinct()
    links = links.withColumn("log", sf.lit("ssb")).select(find_persons.reads.names)
    return map_groups(links, find_persons.keys, find_persons, find_persons.writes)
