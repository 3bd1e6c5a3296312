"""Reduces private groups: epochs, members, the preferred epoch, and members that peers drop or miss.

`reduction.reduce_groups` and `foreign_excludes.foreign_excludes` take the rows of a Spark partition. The other modules
compute one group, with the sets of feeds and epochs as the bits of integers. The epochs of a group are numbered by
depth, then id, so each follows lower numbers. `dbt_tangles.formats.ssb.group_claims` reads the message contents.

Source: private group specification, 4; ssb-group-exclusion-spec, 4; ssb-tribes2, `lib/epochs`.
"""
