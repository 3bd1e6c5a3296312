"""Resolves an id that a user typed or pasted: any unique prefix, in any form of `forms`."""

import re
from typing import NamedTuple

from dbt_tangles.cli.pasted_ids import Candidate, candidates, first_likely_id, is_name
from dbt_tangles.cli.tables import CommandError, Tables

_NODE = re.compile(r"([0-9a-fA-F]{1,64}):([0-9]{1,10})")
#: Sorts after every string that a column holds.
LAST = "\U0010ffff"
_SHOWN = 10

#: Kind: the tables and columns that hold its ids, in the order in which they are searched.
PLACES = {
    "message": [("ssb_messages", "message_id")],
    "pzp": [("pzp_messages", "message_id")],
    "node": [("autobase_links", "node_id"), ("autobase_nodes", "node_id"), ("autobase_rejects", "node_id")],
    "event": [("timeline_events", "event_id"), ("timeline_rejects", "event_id")],
}
#: The tables and columns of ids that are not in the log: those that tangles miss, then those that lines claim.
_UNLISTED = [
    [("tangle_missing", "missing_id")],
    [(f"ssb_{rows}", "claimed_key") for rows in ("rejects", "messages")]
    + [(f"pzp_{rows}", "claimed_id") for rows in ("rejects", "messages")],
]
# An event that stands for a message is found as a message.
_ONLY = {"timeline_events": "message_id is null and "}
#: Kind: queries that return a row if ids of the kind may be any text: events, and ids of unverified messages.
_FREE = {
    "event": [
        "select 1 from timeline_events where message_id is null limit 1",
        "select 1 from timeline_rejects where event_id is not null limit 1",
    ],
    "message": ["select 1 from ssb_messages where is_usable and is_signature_valid is null limit 1"],
    "pzp": ["select 1 from pzp_messages where is_usable and is_signature_valid is null and not is_moot limit 1"],
}


class Found(NamedTuple):
    """An id that is in a table, and its kind."""

    kind: str
    id: str


def find(tables: Tables, given: str, kind: str | None = None) -> list[Found]:
    """List the ids of all kinds or of one that match the first matching form of a pasted id or beginning, at most 11.

    For a node, `<beginning of the writer>:<length>` also matches.
    """
    return next(filter(None, (_find(tables, candidate, kind) for candidate in candidates(given))), [])


def _find(tables: Tables, candidate: Candidate, kind: str | None) -> list[Found]:
    found: list[Found] = []
    for each in [kind] if kind else PLACES:
        ids = _ids(tables, PLACES[each], candidate)
        if candidate.text in ids:
            return [Found(each, candidate.text)]
        found += [Found(each, id_) for id_ in sorted(ids)]
        # Only ids of classic SSB begin with %, so the large tables of events need not be searched.
        if found and each == "message" and candidate.text.startswith("%"):
            break
    return found[: _SHOWN + 1]


def _ids(tables: Tables, places: list[tuple[str, str]], candidate: Candidate) -> set[str]:
    """Read the first ids that a candidate may stand for; a whole id comes before all others that begin with it."""
    low, may_be_prefix = candidate
    ids: set[str] = set()
    for table, column in places:
        node = _NODE.fullmatch(low) if column == "node_id" and may_be_prefix else None
        begin, end = (node[1].lower(), f":{node[2]}") if node else (low, "")
        sql = f"""select distinct {column} as id from {table} where {_ONLY.get(table, "")}
            {column} >= $low and {column} < $high and ends_with({column}, $end) order by 1 limit {_SHOWN + 1}"""
        rows = tables.rows(sql, low=begin, high=begin + (LAST if may_be_prefix else "\0"), end=end)
        ids |= {row["id"] for row in rows}
    return ids


def complete_id(tables: Tables, given: str) -> str | None:
    """Complete the prefix of an id that tangles miss, or else of one that lines claim, if exactly one matches."""
    found = (_ids(tables, places, candidate) for places in _UNLISTED for candidate in candidates(given))
    return next((ids.pop() for ids in found if len(ids) == 1), None)


def require_id(tables: Tables, given: str, kind: str | None = None) -> str:
    """Return the id that a pasted text stands for, although the tables lack it; fail if it does not look like one.

    If the tables hold ids of free choice, any name may be an id.
    """
    candidate = first_likely_id(given)
    if candidate is not None:
        return candidate
    kinds = [kind] if kind else [*_FREE]
    is_free = bool(kind) or is_name(given)
    if given and is_free and any(tables.rows(sql) for each in kinds for sql in _FREE.get(each, ())):
        return given
    raise CommandError(
        f"{given!r} does not look like an id; give a message (%... or ssb:message/...), a pzp message (base58), an "
        "Autobase node (HEX:LENGTH) or an event, whole or its beginning, or a line of a log that was read (FILE:N)"
    )


def find_one(tables: Tables, given: str, kind: str | None = None) -> Found | None:
    """Find the id that matches a text, if any; fail if several match."""
    found = find(tables, given, kind)
    if len(found) > 1:
        lines = [f"  {each.id} ({each.kind})" for each in found[:_SHOWN]] + ["  …"] * (len(found) > _SHOWN)
        raise CommandError("\n".join([f"{given} matches several ids; give more characters of one:", *lines]))
    return found[0] if found else None
