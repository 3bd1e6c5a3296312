"""Runs dbt Python models, from compiled code to a written table (`submit`, `write`), and supports the code of models.

Models call `map_groups` to run a kernel on whole groups of rows.
"""
