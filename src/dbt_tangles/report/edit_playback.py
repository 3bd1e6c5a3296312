"""Selects the last edits of a timeline that the report plays, and reverts them to get the order to start from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

#: The most commands that are read for each place that is shown.
COMMANDS = 8


class ReplayError(Exception):
    """The edits do not produce the published order, because the tables come from different runs."""


def window(edits: Iterable[dict], total: int, most: int) -> tuple[list[dict], int]:
    """Select the last whole batches of commands, given the last first, that change only the last places.

    Returns:
        The commands in their order, and the first place that they change; earlier places stay as they are.
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
    """Return the order before some commands, from the order after them; both begin at place `low`.

    Raises:
        ReplayError: The commands do not lead to `order`.
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
