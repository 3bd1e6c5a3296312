"""The wire formats: lines of SSB, pzp, Autobase and event logs, verified and typed one by one.

The module `verify_lines` of each subpackage is called by the staging model of its log. It takes lines, and gives one
row each: the typed message, or the reason why the line is rejected.
"""
