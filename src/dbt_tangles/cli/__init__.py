"""The command `tangles`: asks the tables of a warehouse, plain parquet files. No Spark, and nothing is written."""
