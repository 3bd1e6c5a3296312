"""Keeps tables as folders of files: atomic publication, manifests, locks, and detection of damage.

`session.connection` opens the warehouse when a dbt command starts, and the adapter publishes each table that a node has
built. `warehouse` is the store of published tables, `public_folders` reads them, and `process_folder` holds the tables
that a process is still building; these import neither Spark nor dbt. `catalog` keeps the session's catalog in step with
the warehouse. `manifest` records the origin and the files of a table, `integrity` and `damage` find damaged files, and
`process_folder` has the lock by which one process at a time builds. `atomic_swap` and `durable_files` are the file
operations.
"""
