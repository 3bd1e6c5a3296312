"""Runs Sail, an engine other than Spark, as a server inside the dbt process.

`session.connection` starts it for profiles with `spark.dbt.engine: sail`; models and macros use the functions of `sail`
that hide its differences from Spark. `sail_server` starts the server. Other processes cannot connect to it:
`local_socket` is a socket that accepts this process only, and `relay` connects the gRPC client to it.
"""
