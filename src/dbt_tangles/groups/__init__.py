"""Private groups: their messages, their epochs, who is in them, and which epoch is preferred.

`messages` judges contents. `reduction.reduce_groups` takes an Arrow table that holds many whole groups, as Spark's
`mapInArrow` delivers them. The modules that it calls are the same on arrays. There, an epoch's number is its place:
the epochs of a group are neighbours, and within a group they stand by depth, then id, so that every edge leads to a
lower number.
"""
