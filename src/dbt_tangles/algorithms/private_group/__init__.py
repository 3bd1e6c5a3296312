"""Private groups: their epochs, who is in them, which epoch is preferred, and where peers go wrong.

`reduction.reduce_groups` takes an Arrow table that holds many whole groups, as Spark's `mapInArrow` delivers them. The
modules that it calls are the same on arrays. There, an epoch's number is its place: the epochs of a group are
neighbours, and within a group they stand by depth, then id, so that every edge leads to a lower number. What a single
content says is for `dbt_tangles.formats.ssb.group_claims`.
"""
