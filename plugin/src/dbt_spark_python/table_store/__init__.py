"""Keeps tables as folders of files: atomic publication, manifests, locks, and detection of damage.

`session.connection` opens the warehouse when a dbt command starts, and the adapter publishes each table that a node has
built. `warehouse` is the store of published tables, `public_folders` reads them, and `process_folder` holds the tables
that a process is still building; these import neither Spark nor dbt. `catalog` keeps the session's catalog in step with
the warehouse. `manifest` records the origin and the files of a table, `integrity` and `damage` find damaged files, and
`locks` lets one process at a time build. `atomic_swap`, `durable_files` and `private_folders` are the file operations.
"""
