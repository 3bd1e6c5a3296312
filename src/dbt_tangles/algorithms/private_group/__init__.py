"""Reduces private groups: epochs, members, the preferred epoch, and members that peers drop or miss.

`reduction.reduce_groups` and `foreign_excludes.foreign_excludes` take Arrow tables with many whole groups. The other
modules are kernels on arrays. There, an epoch is its place: the epochs of a group are neighbours, ordered by depth,
then id, so every edge leads to a lower number. `dbt_tangles.formats.ssb.group_claims` reads the message contents.

Source: private group specification, 4; ssb-group-exclusion-spec, 4; ssb-tribes2, `lib/epochs`.
"""
