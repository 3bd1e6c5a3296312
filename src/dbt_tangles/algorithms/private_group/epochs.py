"""Finds the epochs of a private group, and the adds and excludes of each.

An init is an epoch if it is the root of its group, or if it lists previous epochs and all of them are epochs.
Statements (adds and excludes) count for the epoch that they name, connected or not, as peers read them.

Source: seed 000/001, "Epoch tangle"; private group specification, 4.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from dbt_tangles.columns.group_kinds import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT


class Message(NamedTuple):
    """A row of the input: a valid message of a group's type."""

    group_id: str  # the group that an init claims, or the group of the named epoch
    message_id: str  # unique in its group
    epoch_id: str | None  # for an init its own id; for a statement the epoch that it names
    kind: str  # `root_init` (the root if its id is the group's), `epoch_init`, `add` or `exclude`
    previous_epochs: list[str | None] | None  # of an epoch init; a null within is an unknown epoch
    is_connected: bool | None  # whether an add is connected in the members tangle of its epoch; null is no
    feeds: list[str | None] | None  # that a statement names; a null within is ignored
    epoch_key: bytes | None  # of an init, its secret; null for an init of the document, which has none


class Epoch(NamedTuple):
    """An epoch. Its number is its place by depth, then id; a feed is its number in `Group.feeds`."""

    epoch_id: str
    depth: int  # the longest path from the root
    previous: list[int]  # the distinct epochs that it follows
    key: bytes
    added: dict[int, list[str]]  # the adds of each feed, by id
    excluded: dict[int, list[str]]  # the excludes of each feed, by id
    members: set[int]  # the feeds with a connected add


class Group(NamedTuple):
    """The epochs of a group, and the names of its feeds."""

    group_id: str
    epochs: list[Epoch]
    feeds: list[str]


def build_group(messages: Sequence[Message]) -> Group:
    """Find the epochs of a group and their statements, from its messages sorted by id.

    Other inits, and statements about others, are ignored.
    """
    group_id = messages[0].group_id
    inits = {message.message_id: message for message in messages if message.kind in (ROOT_INIT, EPOCH_INIT)}
    epochs: list[Epoch] = []
    numbers: dict[str | None, int] = {}
    for depth, level in enumerate(_levels(group_id, inits)):
        for epoch_id in level:
            init = inits[epoch_id]
            previous = sorted({numbers[other] for other in init.previous_epochs or ()}) if depth else []
            numbers[epoch_id] = len(epochs)
            epochs.append(Epoch(epoch_id, depth, previous, init.epoch_key or b"", {}, {}, set()))
    feeds: dict[str, int] = {}
    for message in messages:
        if message.kind not in (ADD, EXCLUDE) or message.epoch_id not in numbers:
            continue
        epoch = epochs[numbers[message.epoch_id]]
        named = [feeds.setdefault(feed, len(feeds)) for feed in dict.fromkeys(message.feeds or ()) if feed is not None]
        said = epoch.added if message.kind == ADD else epoch.excluded
        for feed in named:
            said.setdefault(feed, []).append(message.message_id)
        if message.kind == ADD and message.is_connected:
            epoch.members.update(named)
    return Group(group_id, epochs, list(feeds))


def _levels(group_id: str, inits: dict[str, Message]) -> list[list[str]]:
    """List the epochs of each depth by id; an epoch is placed after the last of its previous (Kahn)."""
    if group_id not in inits or inits[group_id].kind != ROOT_INIT:
        return []
    waiting, followers = {}, defaultdict(list)
    for epoch_id, init in inits.items():
        if epoch_id != group_id:
            listed = {*(init.previous_epochs or ())}
            waiting[epoch_id] = len(listed)
            for other in listed:
                followers[other].append(epoch_id)
    levels, level = [], [group_id]
    while level:
        levels.append(level)
        following = []
        for epoch_id in level:
            for follower in followers[epoch_id]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    following.append(follower)
        level = sorted(following)
    return levels
