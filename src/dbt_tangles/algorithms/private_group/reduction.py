"""Reduces private groups: the rows of epochs, members and dropped members.

Source: seed 000/001, "Members tangle", "Epoch tangle"; private group specification, 4; ssb-tribes2, `lib/epochs`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dbt_tangles.algorithms.private_group.epochs import Group, Message, build_group
from dbt_tangles.algorithms.private_group.members import LIMITS, Limits, MemberChanges, find_changes
from dbt_tangles.algorithms.private_group.preference import choose_preferred
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.row_schema import Int32

EPOCH, MEMBER, DROPPED = "epoch", "member", "dropped"


class GroupRow(NamedTuple):
    """A result: an epoch; a feed that is added, excluded or missing in an epoch; or a feed that an epoch drops.

    Columns of other kinds of rows are null, and so are those that depend on ancestors in a group beyond the limits.
    """

    row_kind: str  # `EPOCH`, `MEMBER` or `DROPPED`
    group_id: str
    epoch_id: str
    # Rows of epochs.
    depth: Int32 | None = None  # the longest path from the root
    is_tip: bool | None = None  # the epoch is not listed by another one
    is_preferred: bool | None = None  # true for one epoch of each group
    preference: str | None = None  # the case by which it was chosen, see `preference`
    tip_count: Int32 | None = None  # of the group
    added_count: Int32 | None = None  # the feeds that adds name
    excluded_count: Int32 | None = None  # the feeds that excludes name
    missing_count: Int32 | None = None  # see `members`; peers report an epoch with missing or returned feeds
    returned_count: Int32 | None = None
    are_missing_listed: bool | None = None  # whether all missing feeds of the group have a row
    # Rows of members and of dropped feeds.
    feed_id: str | None = None
    is_added: bool | None = None
    is_excluded: bool | None = None
    is_member: bool | None = None  # by a connected add
    # The statements, connected or not, by id. For a dropped feed one add and one exclude: the least by id in the last
    # epoch whose add still stands, and in the last strict ancestor that excludes the feed.
    added_by: list[str] | None = None
    excluded_by: list[str] | None = None
    is_missing: bool | None = None
    is_returned: bool | None = None


@kernel(keys=["group_id"], reads=Message, writes=GroupRow, order=["message_id"])
def reduce_groups(messages: Sequence[Message], limits: Limits = LIMITS) -> Iterator[GroupRow]:
    """Compute the epochs and members of a group.

    Args:
        messages: The messages of the group, by id.
        limits: The bounds of a group.
    """
    group = build_group(messages)
    if group.epochs:
        changes = find_changes(group.epochs, limits)
        yield from _epoch_rows(group, changes)
        for number in range(len(group.epochs)):
            yield from _member_rows(group, number, changes)
        for found in changes.dropped if changes else ():
            added = group.epochs[found.added_in].added[found.feed][:1]
            excluded = group.epochs[found.excluded_in].excluded[found.feed][:1]
            epoch_id, feed_id = group.epochs[found.epoch].epoch_id, group.feeds[found.feed]
            yield GroupRow(DROPPED, group.group_id, epoch_id, feed_id=feed_id, added_by=added, excluded_by=excluded)


def _epoch_rows(group: Group, changes: MemberChanges | None) -> Iterator[GroupRow]:
    followed = {previous for epoch in group.epochs for previous in epoch.previous}
    tips = [number for number in range(len(group.epochs)) if number not in followed]
    preference, preferred = choose_preferred(group.epochs, tips)
    for number, epoch in enumerate(group.epochs):
        yield GroupRow(
            EPOCH,
            group.group_id,
            epoch.epoch_id,
            depth=epoch.depth,
            is_tip=number not in followed,
            is_preferred=number == preferred,
            preference=preference,
            tip_count=len(tips),
            added_count=len(epoch.added),
            excluded_count=len(epoch.excluded),
            missing_count=changes and changes.missing_counts[number],
            returned_count=changes and len(changes.epochs[number].returned),
            are_missing_listed=changes is not None and changes.are_missing_listed,
        )


def _member_rows(group: Group, number: int, changes: MemberChanges | None) -> Iterator[GroupRow]:
    epoch = group.epochs[number]
    found = changes and changes.epochs[number]
    for feed in epoch.added | epoch.excluded:
        yield GroupRow(
            MEMBER,
            group.group_id,
            epoch.epoch_id,
            feed_id=group.feeds[feed],
            is_added=feed in epoch.added,
            is_excluded=feed in epoch.excluded,
            is_member=feed in epoch.members,
            added_by=epoch.added.get(feed, []),
            excluded_by=epoch.excluded.get(feed, []),
            is_missing=found and feed in found.missing_excluded,
            is_returned=found and feed in found.returned,
        )
    for feed in found.missing if found else ():
        yield GroupRow(
            MEMBER,
            group.group_id,
            epoch.epoch_id,
            feed_id=group.feeds[feed],
            is_added=False,
            is_excluded=False,
            is_member=False,
            added_by=[],
            excluded_by=[],
            is_missing=True,
            is_returned=False,
        )
