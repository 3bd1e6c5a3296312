"""The wire formats: lines of SSB, pzp, Autobase and event logs, verified and typed one by one.

The staging model of each log calls the module `verify_lines` of its subpackage. For each line, that module returns one
row: the typed message, or the reason why the line is rejected.
"""
