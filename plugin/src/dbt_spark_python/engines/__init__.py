"""Runs Sail, an engine other than Spark, as a server inside the dbt process.

`session.connection` starts it for profiles with `spark.dbt.engine: sail`; models and macros use the functions of `sail`
that hide its differences from Spark. `sail` starts the server. `local_socket`, `listeners` and `relay` ensure that
other processes cannot connect to it: `local_socket` filters a listening socket, `listeners` puts that socket in place
of the server's own, and `relay` connects the gRPC client to it.
"""
