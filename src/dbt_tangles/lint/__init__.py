"""Judges logs without dbt and without an engine: lines, signatures, feeds and claims.

`tangles lint` streams each file through the verifiers that the models `stg_*__lines` call (`dbt_tangles.formats`).
Rules about several lines run on the checked lines in DuckDB (`rules`). A finding has the reason that a build gives in
its tables.
"""
