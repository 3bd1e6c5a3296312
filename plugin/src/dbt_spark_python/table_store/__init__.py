"""Tables as folders of files: publication in one step, manifests, locks, and the detection of damage.

`warehouse` is the store, `catalog` keeps the session's catalog in step with it.
"""
