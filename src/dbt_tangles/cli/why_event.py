"""`tangles why` for an event of the event log: its position in each timeline, and the lines that were rejected."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.tables import Tables

_MOST = 100
_COLUMNS = """timeline_id, rank, position, is_tip, is_tie_broken, missing_causes, cyclic_causes, arrival, author,
    message_id, source_file, line"""


def explain(tables: Tables, event_id: str, only: str | None = None) -> dict:
    """Collect the rows about an event, in every timeline that has an event of this id."""
    events = tables.rows_of("timeline_events", _COLUMNS, "event_id", event_id)
    rejects = tables.rows_of("timeline_rejects", "timeline_id, reason, detail, source_file, line", "event_id", event_id)
    events = [row for row in events if row.pop("message_id") is None]
    if only is not None:
        events, rejects = (
            [row for row in rows if row["timeline_id"] in candidate_texts(only)] for rows in (events, rejects)
        )
    for reject in rejects:
        reject["meaning"] = messages.event(reject["reason"])
    events.sort(key=lambda row: row["timeline_id"])
    rejects.sort(key=lambda row: (row["source_file"], row["line"]))
    timelines = [_explain_links(tables, event_id, row) for row in events[:_MOST]]
    return {
        "kind": "event",
        "id": event_id,
        "timelines": timelines,
        "rejects": rejects[:_MOST],
        "is_well": bool(timelines) and not rejects,
    }


def _explain_links(tables: Tables, event_id: str, row: dict) -> dict:
    links = tables.rows(
        f"""select event_id, cause_id, kind, is_known from {{timeline_links}}
        where timeline_id = $timeline and (event_id = $id or cause_id = $id) order by all limit {2 * _MOST}""",
        timeline=row["timeline_id"],
        id=event_id,
    )
    follows = [link["cause_id"] for link in links if link["event_id"] == event_id]
    return {
        **row,
        "follows": follows,
        "followed_by": [link["event_id"] for link in links if link["event_id"] != event_id],
    }


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    page.line((answer["id"], ID))
    for row in answer["timelines"]:
        tip = ", tip" if row["is_tip"] else ""
        page.line(
            "timeline ",
            (row["timeline_id"], STRONG),
            ": ",
            ("in the timeline", GOOD),
            f", position {row['position']}, rank {row['rank']}, arrival {row['arrival']}{tip}",
            indent=1,
        )
        page.line((f"{row['source_file']}:{row['line']}, author {row['author'] or 'not given'}", DIM), indent=2)
        if row["is_tie_broken"]:
            before = row["position"] - 1
            page.line(f"by convention (rank, then id) and not by cause it stands behind position {before}", indent=2)
        page.ids("follows", row["follows"], indent=2)
        page.ids("causes that are not in the timeline (ignored):", row["missing_causes"], indent=2)
        page.ids("causes that are or follow this event, a cycle (ignored):", row["cyclic_causes"], indent=2)
        page.ids("followed by", row["followed_by"], indent=2)
    for row in answer["rejects"]:
        page.line(
            f"timeline {row['timeline_id'] or '(unreadable)'}: ",
            ("line rejected", BAD),
            f": {row['reason']}. {row['meaning']}",
            indent=1,
        )
        page.line(f"{row['source_file']}:{row['line']} {row['detail'] or ''}".rstrip(), indent=2)
    if not answer["timelines"] and not answer["rejects"]:
        page.line("not in the timeline that --in names", indent=1)
