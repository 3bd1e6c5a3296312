"""Incremental runs: which tables a run reuses, rebuilds, or replaces in part, and the reasons.

`plan.py` decides for one node. `definition.py` describes what a node's rows depend on besides its inputs, `replace.py`
replaces the rows of changed groups, `counts.py` counts what that changed, and `passes.py` remembers tests that passed.
The macros and materializations that call them are in the project's `macros/incremental` and `macros/materializations`.
"""
