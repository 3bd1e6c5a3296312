"""The rows of the timeline kernel: arrivals and published rows as input, places as output."""

from typing import NamedTuple

from dbt_tangles.kernel_runtime.row_schema import Int32, Int64


class Arrival(NamedTuple):
    """A line of an event log, or a message; or a row of the order that an earlier run published."""

    timeline_id: str | None
    event_id: str
    causes: list[str] | None
    cause_kinds: list[str] | None  # null for lines
    left_out_causes: list[str] | None
    author: str | None
    arrival: Int64 | None
    received_ms: float | None  # the place of a message without an arrival
    refusal: str | None  # the reason of an arrival that was refused beforehand
    source_file: str | None
    line: Int64 | None
    is_order_only: bool | None  # the timeline has no scripts
    is_published: bool | None  # the columns from here on are those of a published row
    reason: str | None
    position: Int32 | None
    publication: str | None
    previous_publication: str | None
    update_step: Int32 | None
    update_from_position: Int32 | None
    update_to_position: Int32 | None


#: The columns of a published row, besides its timeline and event.
PUBLISHED = Arrival._fields[Arrival._fields.index("is_published") + 1 :]
#: The columns that distinguish lines of one event, places last.
SAID = Arrival._fields[2 : Arrival._fields.index("is_order_only")]


class Edit(NamedTuple):
    """A command that concerns an event."""

    batch: Int64
    step: Int32
    from_position: Int32 | None
    to_position: Int32


class Place(NamedTuple):
    """An arrival and the place of its event; see `order.order_timelines`."""

    timeline_id: str
    event_id: str
    causes: list[str] | None
    cause_kinds: list[str] | None
    left_out_causes: list[str] | None
    author: str | None
    arrival: Int64 | None
    refusal: str | None
    source_file: str | None
    line: Int64 | None
    edits_left_out: str | None
    ordinal: Int64
    reason: str | None
    rank: Int32 | None
    latest_rank: Int32 | None
    position: Int32 | None
    is_tip: bool | None
    is_tie_broken: bool | None
    missing_causes: list[str] | None
    cyclic_causes: list[str] | None
    edits: list[Edit] | None
    publication: str
    previous_publication: str | None
    update_step: Int32 | None
    update_from_position: Int32 | None
    update_to_position: Int32 | None
