"""The uses of interfaces that are not public, one function in each module, with the versions that it was tested with.

An upgrade of pyspark, Sail, Python or Linux may break them; `tests/test_fences.py` then fails first and names the one.
`hadoop` reaches Hadoop through Spark's JVM, `known_session` finds the session of a process, `unix_channel` opens a
session at a Unix socket, `single_query` sends a query to Sail once, `replaced_listener` and `socket_filter` guard the
port of Sail, `stopped_functions` ends Python functions of an interrupted command, and `quiet_libraries` silences a
logger.
"""
