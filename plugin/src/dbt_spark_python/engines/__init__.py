"""Engines other than the embedded Spark: Sail, a server that runs in the process of dbt.

`sail` starts the server; `relay`, `listeners` and `local_socket` make sure that no other process connects to it.
"""
