"""How many rows of each verdict the tables have."""

from __future__ import annotations

from dbt_tangles.ask.tables import Tables

#: What is counted, in which table, and by what.
_COUNTED = [
    ("messages of SSB", "ssb_messages", "coalesce(check_error, 'usable')"),
    ("lines of the SSB log that gave none", "ssb_rejects", "reason"),
    ("feeds", "feeds", "status"),
    ("messages in their feeds", "feed_messages", "coalesce(reason, 'in_chain')"),
    ("tangles", "tangles", "case when tangle_name = 'feed' then 'feed' else root_status end"),
    ("messages in tangles", "tangle_messages", "coalesce(set_aside_reason, 'member')"),
    ("faults of writers in tangles", "tangle_writer_faults", "fault"),
    ("messages of private groups", "group_messages", "coalesce(set_aside_reason, 'counted')"),
    ("findings in private groups", "group_findings", "finding"),
    ("pzp messages", "pzp_messages", "coalesce(reject_reason, 'usable')"),
    ("lines of the pzp log that gave none", "pzp_rejects", "reason"),
    ("sets", "sets", "root_status"),
    (
        "messages in sets",
        "set_messages",
        "case when is_valid then 'valid' when is_held then 'held' else reject_reason end",
    ),
    ("faults of writers in sets", "set_writer_faults", "rule"),
    ("bases", "autobase_bases", "status"),
    ("nodes of bases", "autobase_nodes", "role"),
    ("lines of the autobase log that are not used", "autobase_rejects", "reason"),
    (
        "timelines",
        "timeline_stats",
        """case when timeline_id = 'ssb:log' then 'whole log' when edit_count = 0 then 'without edits'
        else 'with edits' end""",
    ),
    ("lines of the event log that gave no event", "timeline_rejects", "reason"),
]


def count(tables: Tables) -> list[dict]:
    """Count the rows of each table by verdict, the most frequent first; tables that are not there are left out."""
    answer = []
    for what, table, verdict in _COUNTED:
        if tables.has(table):
            rows = tables.rows(
                f"select {verdict} as verdict, count(*) as n from {{{table}}} group by verdict order by n desc, verdict"
            )
            counts = {row["verdict"]: row["n"] for row in rows}
            answer.append({"what": what, "table": table, "total": sum(counts.values()), "counts": counts})
    return answer
