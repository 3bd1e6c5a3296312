"""Foreign excludes of private groups: an epoch is charged with them although its init does not descend from them.

Peers do not expect a feed that an exclude of an epoch names in the later epochs. The excludes of all forks lie in the
members tangle of the same parent epoch, so each branch of a fork is charged with the excludes of the other branches.
An exclude belongs to a branch only if the init of the branch descends from it in the group tangle. Peers write in that
order: the exclude first, then the init. The specification has the init first; an exclude written that way is foreign
even to its own epoch, since it looks like one of a sibling.

Sources: ssb-tribes2, `getMissingMembers` in `lib/epochs` (all excludes of earlier epochs count) and `excludeMembers` in
`index.js` (the order of writing); ssb-group-exclusion-spec, 4.1 (the order of the steps) and 4.6 (in a fork, the
excludes of the other branch need an epoch of their own).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.row_schema import Int32

MAX_LISTED = 100
#: The most steps of a group, of some nanoseconds each.
STEP_LIMIT = 2**33
#: The bits that are held at once, and the most of them for one message.
BITS, WIDTH = 2**30, 2**16


class Link(NamedTuple):
    """A message of a group."""

    group_id: str
    message_id: str
    previous: list[str | None] | None  # in the group tangle; ids of no member are ignored
    is_member: bool | None  # of the group tangle
    depth: Int32 | None  # in the group tangle
    previous_epochs: list[str | None] | None  # for the inits of the group's epochs
    excluded_epoch: str | None  # for the excludes that count, the epoch that each names


class ForeignExcludes(NamedTuple):
    """An epoch with foreign excludes; a group beyond the limit has one row, without an epoch."""

    group_id: str
    epoch_id: str | None
    message_ids: list[str] | None  # at most `MAX_LISTED`, by id
    message_count: Int32 | None


@kernel(keys=["group_id"], reads=Link, writes=ForeignExcludes, order=["depth", "message_id"])
def foreign_excludes(links: Sequence[Link], step_limit: int = STEP_LIMIT) -> Iterator[ForeignExcludes]:
    """List, for each epoch of a group, the excludes of its previous epochs that its init does not descend from.

    Only epochs with an init in the group tangle are searched; an exclude outside the group tangle is foreign to all of
    them. The kernel sweeps the group tangle, with the excludes as bits by id: those that a message follows, or is.

    Args:
        links: The messages of a group, by depth, then id.
        step_limit: A group that might take more steps is skipped: (excludes / 64) * (messages + links).
    """
    epochs = {link.message_id: link.previous_epochs for link in links if link.previous_epochs is not None}
    members = [link for link in links if link.is_member and link.depth is not None]
    excludes = sorted((link for link in links if link.excluded_epoch in epochs), key=lambda link: link.message_id)
    named = {link.excluded_epoch for link in excludes}
    charged = [link for link in members if not named.isdisjoint(epochs.get(link.message_id, ()))]
    size = sum(1 + len(link.previous or ()) + len(link.previous_epochs or ()) for link in members)
    if charged and size * -(-len(excludes) // 64) > step_limit:
        yield ForeignExcludes(links[0].group_id, None, None, None)
    elif charged:
        width = max(64, min(WIDTH, BITS // len(members)))
        found = {link.message_id: [] for link in charged}
        counts = dict.fromkeys(found, 0)
        for begin in range(0, len(excludes), width):
            part = excludes[begin : begin + width]
            for epoch_id, foreign in _sweep(members, part, {name: epochs[name] for name in found}):
                counts[epoch_id] += foreign.bit_count()
                while foreign and len(found[epoch_id]) < MAX_LISTED:
                    found[epoch_id].append(part[(foreign & -foreign).bit_length() - 1].message_id)
                    foreign &= foreign - 1
        for epoch_id, listed in found.items():
            if listed:
                yield ForeignExcludes(links[0].group_id, epoch_id, listed, counts[epoch_id])


def _sweep(
    members: Sequence[Link], excludes: Sequence[Link], epochs: dict[str, list[str | None]]
) -> Iterator[tuple[str, int]]:
    """Yield, for each charged epoch, the foreign ones of some excludes: the bits of an integer."""
    own, of_epoch = {}, defaultdict(int)
    for place, link in enumerate(excludes):
        own[link.message_id] = 1 << place
        of_epoch[link.excluded_epoch] |= 1 << place
    followed: dict[str | None, int] = {}
    for link in members:
        bits = own.get(link.message_id, 0)
        for previous in link.previous or ():
            bits |= followed.get(previous, 0)
        followed[link.message_id] = bits
        if link.message_id in epochs:
            charged = 0
            for previous in epochs[link.message_id]:
                charged |= of_epoch.get(previous, 0)
            yield link.message_id, charged & ~bits
