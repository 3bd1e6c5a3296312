"""Decides which tables a run reuses, rebuilds or replaces in part, and carries that out.

`adapter_methods` is the part of the adapter that materializations call for every node of a build. `plan` decides for
one node; it compares the node's definition (`definition`: digests of code, config, vars and versions) and its inputs
with the manifest of the published table. `counts` counts the rows that changed, and `passes` remembers tests that
passed, so that they run again only on changed rows. `earlier` serves Python models that read their own earlier table,
and selects the rows of changed and of other groups. `snapshot_tables` has the manifests of Iceberg and Delta tables.

The materializations and macros that call the adapter are in the project's `macros/materializations` and
`macros/incremental`.
"""
