"""The command `tangles`: queries a warehouse's parquet files with DuckDB, read-only and without Spark."""
