"""Ids as people give them: by any prefix that is unique, messages of SSB as URIs too."""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_tangles.ask.tables import AskError, Tables

_URI = re.compile(r"ssb:(?://)?(message|feed)/(classic|sha256|ed25519)/([A-Za-z0-9_-]{0,43})(=*)")
#: Of each kind of URI the beginning and the end of a sigil; feeds are called classic or by their key.
_SIGILS = {("message", "classic"): "%{}.sha256", ("message", "sha256"): "%{}.sha256"}
_SIGILS |= {("feed", "classic"): "@{}.ed25519", ("feed", "ed25519"): "@{}.ed25519"}
_NODE = re.compile(r"([0-9a-fA-F]{1,64}):([0-9]{1,10})")
#: No string that a column holds is behind this one.
LAST = "\U0010ffff"
_SHOWN = 10

#: Where the ids of each kind are, the first table first.
PLACES = {
    "message": [("ssb_messages", "message_id")],
    "pzp": [("pzp_messages", "message_id")],
    "node": [("autobase_links", "node_id"), ("autobase_nodes", "node_id"), ("autobase_rejects", "node_id")],
    "event": [("timeline_events", "event_id"), ("timeline_rejects", "event_id")],
}
#: What explains an id of each kind.
MODULES = {kind: f"dbt_tangles.ask.why_{kind}" for kind in PLACES}
# Events that stand for messages are found as messages.
_ONLY = {"timeline_events": "message_id is null and "}


class Found(NamedTuple):
    """An id that a table has."""

    kind: str
    id: str


def as_sigil(text: str) -> str:
    """Write the URI of a classic message or feed, or how it begins, in the sigil form; other texts as they are."""
    uri = _URI.fullmatch(text)
    sigil = _SIGILS.get((uri[1], uri[2])) if uri else None
    if not sigil:
        return text
    digest = uri[3].replace("-", "+").replace("_", "/")
    return sigil.format(f"{digest}=") if len(digest) == 43 else f"{sigil[0]}{digest}"


def find(tables: Tables, given: str, kind: str | None = None) -> list[Found]:
    """List what an id or prefix may mean.

    Args:
        tables: Where to look.
        given: The id, or how it begins; of a node also how its writer begins, with `:<length>`.
        kind: Look for this kind only.

    Returns:
        One if the id is known in full, or if its prefix is unique; else at most 11. Where nothing begins so, messages
        of SSB that do behind their sigil.
    """
    prefix = as_sigil(given)
    if not prefix:
        return []
    found: list[Found] = []
    for each in [kind] if kind else PLACES:
        ids: set[str] = set()
        for table, column in PLACES[each]:
            ids |= _ids(tables, table, column, prefix)
        if prefix in ids:
            return [Found(each, prefix)]
        found += [Found(each, id_) for id_ in sorted(ids)]
        # Nothing else looks like an id of classic SSB, so the large tables of events need not be asked.
        if found and each == "message" and prefix.startswith("%"):
            break
    # Sigils get lost when ids are copied.
    if not found and kind in (None, "message") and prefix[0].isalnum():
        found = [Found("message", id_) for id_ in sorted(_ids(tables, "ssb_messages", "message_id", f"%{prefix}"))]
    return found[: _SHOWN + 1]


def _ids(tables: Tables, table: str, column: str, prefix: str) -> set[str]:
    node = _NODE.fullmatch(prefix) if column == "node_id" else None
    values = {"low": prefix, "high": prefix + LAST}
    where = f"{column} >= $low and {column} < $high"
    if node:
        values = {"low": node[1].lower(), "high": node[1].lower() + LAST, "end": f":{node[2]}"}
        where += f" and ends_with({column}, $end)"
    # Tables of messages have each once, so that its file is that of all there is to read of it.
    is_once = column == "message_id"
    rows = tables.rows(
        f"""select distinct {column} as id{", filename" if is_once else ""} from {{{table}}}
        where {_ONLY.get(table, "")}{where} limit {_SHOWN + 1}""",
        **values,
    )
    if is_once:
        tables.found_in |= {(table, column, row["id"]): [row["filename"]] for row in rows}
    ids = {row["id"] for row in rows}
    if len(rows) > _SHOWN and prefix not in ids:
        exact = tables.rows(f"select {column} from {{{table}}} where {column} = $id limit 1", id=prefix)
        ids |= {prefix} if exact else set()
    return ids


def awaited(tables: Tables, given: str) -> str | None:
    """Complete the prefix of an id that tangles wait for; None unless one alone begins so."""
    prefix = as_sigil(given)
    rows = tables.rows(
        "select distinct missing_id from {tangle_missing} where missing_id >= $low and missing_id < $high limit 2",
        low=prefix,
        high=prefix + LAST,
    )
    return rows[0]["missing_id"] if prefix and len(rows) == 1 else None


def find_one(tables: Tables, given: str, kind: str | None = None) -> Found | None:
    """Find what an id or prefix means; None if nothing.

    Raises:
        AskError: It may mean several things.
    """
    found = find(tables, given, kind)
    if len(found) > 1:
        raise AmbiguousError(given, found)
    return found[0] if found else None


class AmbiguousError(AskError):
    """A prefix of several ids."""

    def __init__(self, given: str, found: list[Found]) -> None:
        shown = "\n".join(f"  {each.id} ({each.kind})" for each in found[:_SHOWN])
        more = "\n  …" if len(found) > _SHOWN else ""
        super().__init__(f"{given} is the beginning of several ids:\n{shown}{more}")
