"""Which of a timeline's edits are played: the latest, of so few places that all of them can be shown."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

#: Commands for each place that may be shown.
COMMANDS = 8


class ReplayError(Exception):
    """The edits do not lead to the order: tables of several runs."""


def window(edits: Iterable[dict], total: int, most: int) -> tuple[list[dict], int]:
    """Choose what is played.

    Args:
        edits: Commands, whole batches, the last first.
        total: How many events there are.
        most: How many places are shown.

    Returns:
        The commands, in their order, and the first place that they touch; all places before stay as they are.
    """
    low, kept = total, []
    for _, batch in groupby(edits, key=lambda edit: edit["batch"]):
        commands = list(batch)
        places = [edit[name] for edit in commands for name in ("from_position", "to_position")]
        lowest = min(low, *(place for place in places if place is not None))
        if total - lowest > most:
            break
        low = lowest
        kept += commands
    return kept[::-1], 0 if total <= most else low


def undo(order: list[str], edits: list[dict], low: int) -> list[str]:
    """Return the order before some commands.

    Args:
        order: The order after them, from place `low` on.
        edits: The commands, in their order.
        low: A place before which nothing changes.

    Raises:
        ReplayError: They do not lead to that order.
    """
    before = list(order)
    for edit in reversed(edits):
        place = edit["to_position"] - low
        if not 0 <= place < len(before) or before[place] != edit["event_id"]:
            raise ReplayError
        del before[place]
        if edit["op"] == "mov":
            before.insert(edit["from_position"] - low, edit["event_id"])
    return before
