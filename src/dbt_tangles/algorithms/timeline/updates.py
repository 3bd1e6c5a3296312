"""The script from the order that was published last to the order that is published now."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.timeline.arrivals import integers
from dbt_tangles.algorithms.timeline.edits import Commands, script
from dbt_tangles.columns.arrays import starts
from dbt_tangles.columns.strings import Strings, copy_strings, strings_of


class Published(NamedTuple):
    """The rows that an earlier run published for the same timelines."""

    row: np.ndarray  # int64[rows], the places in the table
    timeline: np.ndarray  # int32[rows]; ascending
    event: np.ndarray  # int32[rows], the event of each now, or -1


class Updates(NamedTuple):
    """The scripts from the published orders to the new orders."""

    commands: Commands  # of timelines whose order has changed
    previous_publication: pa.Array  # string[timelines], the digest of the order where the script begins; null if empty
    kept_event: np.ndarray  # int32[...], the events of timelines whose order stays: their published script stays
    kept_row: np.ndarray  # int64[...], the published row of each of them


def updates(
    table: pa.Table, publication: pa.Array, event_start: np.ndarray, position: np.ndarray, published: Published
) -> Updates:
    """Compare the orders of two runs.

    Args:
        table: See `order.order_timelines`.
        publication: string[timelines], the digest of the new order, from `name_orders`.
        event_start: int64[timelines + 1], into the events.
        position: int32[events], the place of each in the order now; -1 in timelines without scripts.
        published: The published rows.

    Raises:
        ValueError: The published positions have gaps or repeat.
    """
    timelines = len(event_start) - 1
    old_position = np.full(len(position), np.int32(-1))
    previous = np.full(timelines, None, object)
    stays = np.zeros(0, np.int64)
    if len(published.row):
        was_in = table["reason"].is_null().to_numpy()[published.row]
        place = integers(table, "position")[published.row]
        _check_order(published.timeline[was_in], place[was_in], timelines)
        has_rows, first = np.unique(published.timeline, return_index=True)
        rows = pa.array(published.row[first])
        before = np.full(timelines, None, object)
        previous[has_rows] = table["publication"].take(rows).to_pylist()
        before[has_rows] = table["previous_publication"].take(rows).to_pylist()
        # Scripts cannot remove an event: a timeline that lost one starts anew.
        lost = np.zeros(timelines, np.bool_)
        lost[published.timeline[was_in & (published.event < 0)]] = True
        previous[lost] = None
        stays = np.flatnonzero(was_in & (published.event >= 0) & ~lost[published.timeline])
        old_position[published.event[stays]] = place[stays]
        is_same = previous == np.array(publication.to_pylist(), object)
        previous[is_same] = before[is_same]
        stays = stays[is_same[published.timeline[stays]]]
    commands = script(event_start, old_position, position)
    return Updates(commands, pa.array(previous, pa.string()), published.event[stays], published.row[stays])


def _check_order(timeline: np.ndarray, position: np.ndarray, timelines: int) -> None:
    """Raise an error where the positions of a timeline have gaps or repeat."""
    counts = np.bincount(timeline, minlength=timelines)
    is_there = (position >= 0) & (position < counts[timeline])
    place = (starts(counts)[timeline] + position)[is_there]
    if not is_there.all() or (np.bincount(place, minlength=len(position)) != 1).any():
        raise ValueError("the order that an earlier run published is damaged: build it once with --full-refresh")


def name_orders(ids: Strings, event_start: np.ndarray, ordered: np.ndarray) -> pa.Array:
    """Return the publication of each timeline's order: a digest of its ids with their lengths, in 32 digits.

    Args:
        ids: The names of events.
        event_start: int64[timelines + 1], into the events.
        ordered: int32[events], the place of each event's name, in the order of its timeline.
    """
    offsets, data = copy_strings(ids, ordered)
    lengths = np.diff(offsets)
    names = []
    for first, end in zip(event_start[:-1].tolist(), event_start[1:].tolist(), strict=True):
        digest = sha256(lengths[first:end])
        digest.update(data[offsets[first] : offsets[end]])
        names.append(digest.hexdigest()[:32])
    return pa.array(names, pa.string())


def name_order(ids: pa.Array) -> str:
    """Return the publication of one order."""
    everything = np.arange(len(ids), dtype=np.int32)
    return name_orders(strings_of(pa.chunked_array([ids])), np.array([0, len(ids)]), everything)[0].as_py()
