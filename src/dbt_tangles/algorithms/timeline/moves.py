"""The shortest script of one arrival in plain Python, for stores that are not arrays; `scripts` does it for arrays.

The events that are not raised keep their order among each other. Between the places that matter they form stretches,
which stay or move as a whole; a heaviest increasing subsequence of stretches and raised events stays.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable

from dbt_tangles.algorithms.timeline.replica import Command

#: A command that is planned: the new position, the event, and the old position or None.
Step = tuple[int, Hashable, "int | None"]


def script(old: dict[Hashable, int], new: dict[Hashable, int], event_at: Callable[[int], Hashable]) -> list[Command]:
    """Write the shortest script of an arrival.

    Args:
        old: The positions of the raised events in the old order, ascending.
        new: The raised events and the new ones in the new order, each with the number of old events whose keys precede
            its new key.
        event_at: Returns the event at a position of the old order.
    """
    positions = list(old.values())
    before_old = {event: position - i for i, (event, position) in enumerate(old.items())}
    before_new = {event: before - bisect_left(positions, before) for event, before in new.items()}
    kept = _kept(before_old, before_new)
    steps: list[Step] = [
        (before + j, event, old.get(event)) for j, (event, before) in enumerate(before_new.items()) if event not in kept
    ]
    ahead_old, ahead_new = list(before_old.values()), list(before_new.values())
    for begin, end in _stretches(before_old, before_new):
        if (begin, end) not in kept:
            for place in range(begin, end):
                taken = place + bisect_right(ahead_old, place)
                steps.append((place + bisect_right(ahead_new, place), event_at(taken), taken))
    return _write(sorted(steps, key=lambda step: step[0]))


def _stretches(before_old: dict, before_new: dict) -> list[tuple[int, int]]:
    """Split the events that are not raised: no raised event is inside a stretch in either order."""
    cuts = sorted({*before_old.values(), *before_new.values()})
    return list(zip(cuts, cuts[1:], strict=False))


def _kept(before_old: dict, before_new: dict) -> set:
    """Choose the raised events and the stretches that stay, so that most events do."""
    stretches = _stretches(before_old, before_new)
    number = {stretch: 1 for stretch in stretches}
    rows = []
    for before in (before_old, before_new):
        # A raised event before the first event of a stretch comes first; sorting is stable.
        items = [*((place, 0, event) for event, place in before.items()), *((s[0], 1, s) for s in stretches)]
        rows.append([item for _, _, item in sorted(items, key=lambda each: each[:2])])
    place = {item: n for n, item in enumerate(rows[0])}
    ends: list[int] = []
    worth: list[int] = []
    last: list[Hashable] = []
    previous = {}
    for item in rows[1]:
        if item not in place:
            continue
        at = bisect_left(ends, place[item])
        total = (item[1] - item[0] if item in number else 1) + (worth[at - 1] if at else 0)
        previous[item] = last[at - 1] if at else None
        end = at
        while end < len(worth) and worth[end] <= total:
            end += 1
        ends[at:end], worth[at:end], last[at:end] = [place[item]], [total], [item]
    kept, item = set(), last[-1] if last else None
    while item is not None:
        kept.add(item)
        item = previous[item]
    return kept


def _write(steps: list[Step]) -> list[Command]:
    """Write commands in the new order: each event goes behind the event before it, as `scripts.write` does."""
    movers = sorted(taken for _, _, taken in steps if taken is not None)
    stays_old, stays_new = [taken - m for m, taken in enumerate(movers)], []
    unplaced = list(range(len(movers)))
    commands: list[Command] = []
    for k, (position, event, taken) in enumerate(steps):
        if taken is not None:
            m = bisect_left(movers, taken)
            del unplaced[bisect_left(unplaced, m)]
            taken = stays_old[m] + bisect_right(stays_new, stays_old[m]) + bisect_left(unplaced, m)
        put = position + bisect_left(unplaced, bisect_left(stays_old, position - k))
        commands.append(("ins" if taken is None else "mov", event, taken, put))
        stays_new.append(position - k)
    return commands
