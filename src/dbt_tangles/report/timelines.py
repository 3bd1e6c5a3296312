"""Chooses the last events of a timeline and the edits that the report plays, and reverts these to the order before."""

import re
from collections.abc import Iterable
from itertools import groupby

from dbt_tangles.cli.graph import label
from dbt_tangles.cli.graphs import order_marks
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.names import file_name
from dbt_tangles.report.parts import Part, WhyQuery, one_by

#: The root in the id of the timeline of a tangle.
_TANGLE = re.compile(r":(%[A-Za-z0-9+/]{43}=\.sha256)$")
#: The most commands that are read for each place that is shown.
COMMANDS = 8


def part(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `timeline_subjects`."""
    timeline, total = row["timeline_id"], row["event_count"]
    root = found[1] if (found := _TANGLE.search(timeline)) else None
    edits, low = window(_edits(tables, timeline, nodes * COMMANDS), total, nodes)
    first = low if edits else max(0, total - nodes)
    events = tables.rows(query("timeline_events"), timeline=timeline, first=first)[:nodes]
    if not edits:
        low = events[0]["position"] if events else 0
    order = [event["event_id"] for event in events]
    number = {id_: n for n, id_ in enumerate(order)}
    start = undo(order, edits, low)
    agrees = start is not None
    if start is None:
        start, edits = order, []
    boxes = [_node(event) for event in events]
    view = {
        "kind": "timeline",
        "id": timeline,
        "facts": row["facts"],
        "total": total,
        "left_out": total - len(events),
        "low": low,
        "agrees": agrees,
        "first_batch": edits[0]["batch"] if edits else None,
        "start": [number[id_] for id_ in start],
        "edits": [
            [edit["batch"], edit["op"], number[edit["event_id"]], edit["from_position"], edit["to_position"]]
            for edit in edits
        ],
        "nodes": boxes,
        "lists": {
            "events": [*range(len(events))],
            "authors": one_by(boxes, range(len(events)), "author"),
            "ranks": one_by(boxes, range(len(events)), "rank"),
            "steps": "steps",
        },
    }
    entry = row["entry"] | {"name": timeline.removesuffix(f":{root}") if root else "timeline", "id": root or ""}
    queries = {
        n: WhyQuery("message", event["message_id"])
        if event["message_id"]
        else WhyQuery("event", event["event_id"], timeline)
        for n, event in enumerate(events)
    }
    return Part(entry, view, queries, root)


def _node(event: dict) -> dict:
    """Return the data of an event for its box in the drawing."""
    return {
        "id": event["event_id"],
        "label": label(event["event_id"]),
        "author": event["author"],
        "position": event["position"],
        "rank": event["rank"],
        "latest_rank": event["latest_rank"],
        "words": ", ".join([*(["tip"] if event["is_tip"] else []), *order_marks(event)]),
        "title": None if event["source_file"] is None else f"{file_name(event['source_file'])}:{event['line']}",
    }


def _edits(tables: Tables, timeline: str, most: int) -> list[dict]:
    """Read the last commands in whole batches, the last first."""
    rows = tables.rows(query("timeline_edits"), timeline=timeline, commands=most + 1)
    if len(rows) <= most:
        return rows
    return [row for row in rows if row["batch"] != rows[-1]["batch"]]


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


def undo(order: list[str], edits: list[dict], low: int) -> list[str] | None:
    """Return the order before some commands, from the order after them; both begin at place `low`.

    None if the commands do not lead to `order`, because the tables come from different runs.
    """
    before = list(order)
    for edit in reversed(edits):
        place = edit["to_position"] - low
        if not 0 <= place < len(before) or before[place] != edit["event_id"]:
            return None
        del before[place]
        if edit["op"] == "mov":
            before.insert(edit["from_position"] - low, edit["event_id"])
    return before
