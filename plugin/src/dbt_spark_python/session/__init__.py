"""Opens the Spark session of a dbt command, explains its errors, and logs the progress of what runs on it."""
