"""dbt Python models: how their code reaches the session and the workers, and how their rows become a table.

`submit` runs a compiled model, `write` writes its DataFrame, `map_groups` runs a kernel on whole groups of rows, and
`ship_packages` sends importable packages to the workers of a cluster.
"""
