"""The script from the order that was published last to the order that is published now."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import starts, sums
from dbt_tangles.algorithms.graph.strings import Strings, copy_strings, strings_of
from dbt_tangles.algorithms.timeline.edits import Commands, script
from dbt_tangles.algorithms.timeline.published import Published, integers
from dbt_tangles.kernel_runtime.spill_buffer import Rows


class Updates(NamedTuple):
    """The scripts from the published orders to the new orders.

    Attributes:
        commands: The commands of timelines whose order has changed.
        publication: string[timelines], the digest of the new order.
        previous_publication: string[timelines], the digest of the order where the script begins; null for the empty
            order.
        kept_event: int32[...], the events of timelines whose order did not change: their published script stays.
        kept_row: int64[...], the published row of each of them.
    """

    commands: Commands
    publication: pa.Array
    previous_publication: pa.Array
    kept_event: np.ndarray
    kept_row: np.ndarray


def updates(
    table: pa.Table | Rows,
    names: pa.Array,
    event_start: np.ndarray,
    position: np.ndarray,
    published: Published,
    event_of_published: np.ndarray,
) -> Updates:
    """Compare the orders of two runs.

    Args:
        table: See `order.order_timelines`.
        names: string[timelines], the digest of the new order, from `name_orders`.
        event_start: int64[timelines + 1], into the events.
        position: int32[events], the place of each in the order now; -1 in timelines without scripts.
        published: The published rows.
        event_of_published: int32[published rows], the event of each; -1 where the event is gone.

    Raises:
        ValueError: The published positions have gaps or repeat.
    """
    timelines = len(event_start) - 1
    old_position = np.full(len(position), np.int32(-1))
    previous = np.full(timelines, None, object)
    kept = np.zeros(0, np.int64)
    if len(published.row):
        timeline = np.repeat(np.arange(timelines), np.diff(published.start))
        was_in = table["reason"].is_null().to_numpy()[published.row]
        place = integers(table, "position")[published.row]
        _check_order(starts(sums(was_in, published.start)), place[was_in])
        has_rows = np.flatnonzero(np.diff(published.start))
        rows = pa.array(published.row[published.start[has_rows]])
        previous[has_rows] = table["publication"].take(rows).to_pylist()
        before = np.full(timelines, None, object)
        before[has_rows] = table["previous_publication"].take(rows).to_pylist()
        # Scripts cannot remove an event: a timeline that lost one starts anew.
        left = np.zeros(timelines, np.bool_)
        left[timeline[was_in & (event_of_published < 0)]] = True
        previous[left] = None
        stays = was_in & (event_of_published >= 0) & ~left[timeline]
        old_position[event_of_published[stays]] = place[stays]
        is_same = previous == np.array(names.to_pylist(), object)
        previous[is_same] = before[is_same]
        kept = np.flatnonzero(stays & is_same[timeline])
    return Updates(
        script(event_start, old_position, position),
        names,
        pa.array(previous, pa.string()),
        event_of_published[kept],
        published.row[kept],
    )


def _check_order(start: np.ndarray, position: np.ndarray) -> None:
    """Raise an error where the positions of a timeline have gaps or repeat."""
    counts = np.diff(start)
    is_there = (position >= 0) & (position < np.repeat(counts, counts))
    place = (np.repeat(start[:-1], counts) + position)[is_there]
    if not is_there.all() or (np.bincount(place, minlength=start[-1]) != 1).any():
        raise ValueError("the order that an earlier run published is damaged: build it once with --full-refresh")


def name_orders(ids: Strings, event_start: np.ndarray, row: np.ndarray, position: np.ndarray) -> pa.Array:
    """Return the publication of the order of each timeline.

    Args:
        ids: The names of events.
        event_start: int64[timelines + 1], into the events.
        row: int64[events], the place of each event's name.
        position: int32[events], the place of each event in the order.
    """
    ordered = np.empty(len(row), np.int32)
    ordered[np.repeat(event_start[:-1], np.diff(event_start)) + position] = row
    return _names_of_orders(*copy_strings(ids, ordered), event_start)


def name_order(ids: pa.Array) -> str:
    """Return the publication of one order: the digest of its ids."""
    strings = strings_of(pa.chunked_array([ids]))
    everything = np.arange(len(ids), dtype=np.int32)
    return _names_of_orders(*copy_strings(strings, everything), np.array([0, len(ids)]))[0].as_py()


def _names_of_orders(offsets: np.ndarray, data: np.ndarray, event_start: np.ndarray) -> pa.Array:
    """Digest the ids of each timeline, with their lengths, to 32 hexadecimal digits."""
    lengths = np.diff(offsets)
    names = []
    for first, end in zip(event_start[:-1].tolist(), event_start[1:].tolist(), strict=True):
        digest = sha256(lengths[first:end])
        digest.update(data[offsets[first] : offsets[end]])
        names.append(digest.hexdigest()[:32])
    return pa.array(names, pa.string())
