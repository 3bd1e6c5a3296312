"""Tooltips of nodes: the type, time and content of messages, and the values of base nodes."""

from __future__ import annotations

from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.why_message import time_of
from dbt_tangles.queries import query


def of_messages(tables: Tables, ids: list[str]) -> dict[str, str]:
    """Return the type, sequence, asserted time and beginning of the content of SSB messages, by id."""
    rows = tables.rows(query("message_titles"), ids=ids)
    return {
        row["message_id"]: f"{row['content_type'] or ('encrypted' if row['is_encrypted'] else 'no type')}, sequence "
        f"{row['sequence']}{time_of(row['asserted_ms'])} · {row['content'] or ''}"
        for row in rows
    }


def of_nodes(tables: Tables, base: str, ids: list[str]) -> dict[str, str]:
    """Return the beginning of the value of each node of a base, by id."""
    rows = tables.rows(query("base_positions"), base=base, ids=ids)
    return {row["node_id"]: row["value"] for row in rows if row["value"] is not None}
