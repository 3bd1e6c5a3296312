"""The Spark session of a dbt command: environment, JVM, connection, memory, progress, timeouts.

The adapter asks `connection` for the one session of a command. The other modules prepare it and explain its errors.
"""
