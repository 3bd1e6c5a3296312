"""An event of the event log: its position in each timeline, and the lines that were rejected."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections

_SQL = sections(__file__)
_MOST = 100


def explain(tables: Tables, event_id: str, only: str | None = None) -> dict:
    """Collect the rows about an event, in every timeline that has an event of this id."""
    names = candidate_texts(only)
    events, rejects = (
        [row for row in tables.rows(_SQL[name], id=event_id) if only is None or row["timeline_id"] in names]
        for name in ("events", "rejects")
    )
    timelines = [_explain_links(tables, event_id, row) for row in events[:_MOST]]
    return {
        "kind": "event",
        "id": event_id,
        "timelines": timelines,
        "rejects": [row | {"meaning": messages.event(row["reason"])} for row in rejects[:_MOST]],
        "is_well": bool(timelines) and not rejects,
    }


def _explain_links(tables: Tables, event_id: str, row: dict) -> dict:
    links = tables.rows(_SQL["links"], timeline=row["timeline_id"], id=event_id)
    follows = [link["cause_id"] for link in links if link["event_id"] == event_id]
    followed_by = [link["event_id"] for link in links if link["event_id"] != event_id]
    return {**row, "follows": follows, "followed_by": followed_by}
