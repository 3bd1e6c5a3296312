"""Ids as people give them: by any prefix that is unique, in each form in which they are pasted."""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_tangles.cli.forms import first_form, forms, is_name
from dbt_tangles.cli.tables import AskError, Tables

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
MODULES = {kind: f"dbt_tangles.cli.why_{kind}" for kind in PLACES}
# Events that stand for messages are found as messages.
_ONLY = {"timeline_events": "message_id is null and "}


#: Rows that show that ids of a kind may be any text: events, and ids that were taken as they were claimed.
_FREE = {
    "event": [
        "select 1 from {timeline_events} where message_id is null limit 1",
        "select 1 from {timeline_rejects} where event_id is not null limit 1",
    ],
    "message": ["select 1 from {ssb_messages} where is_usable and is_signature_valid is null limit 1"],
    "pzp": ["select 1 from {pzp_messages} where is_usable and is_signature_valid is null and not is_moot limit 1"],
}


class Found(NamedTuple):
    """An id that a table has."""

    kind: str
    id: str


def find(tables: Tables, given: str, kind: str | None = None) -> list[Found]:
    """List what an id or prefix may mean, in the first form of it that means anything.

    Args:
        tables: Where to look.
        given: The id, or how it begins, as somebody pastes it; of a node also how its writer begins, with `:<length>`.
        kind: Look for this kind only.

    Returns:
        One if the id is known in full, or if its prefix is unique; else at most 11. Where nothing begins so, messages
        of SSB that do behind their sigil.
    """
    for form in forms(given):
        found = _find(tables, form.text, kind)
        if not form.may_go_on:
            found = [each for each in found if each.id == form.text]
        if found:
            return found
    return []


def _find(tables: Tables, prefix: str, kind: str | None) -> list[Found]:
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
    for form in forms(given):
        rows = tables.rows(
            "select distinct missing_id from {tangle_missing} where missing_id >= $low and missing_id < $high limit 2",
            low=form.text,
            high=form.text + (LAST if form.may_go_on else "\0"),
        )
        if len(rows) == 1:
            return rows[0]["missing_id"]
    return None


def meant(tables: Tables, given: str, kind: str | None = None) -> str:
    """Return the id that a text stands for which no table has.

    Args:
        tables: Where ids of free choice may be, so that any name may be one.
        given: What somebody pasted.
        kind: What it is said to be.

    Raises:
        AskError: It is no form of an id.
    """
    form = first_form(given)
    if form is not None:
        return form
    kinds = [kind] if kind else [*_FREE]
    is_free = bool(kind) or is_name(given)
    if given and is_free and any(tables.rows(sql) for each in kinds for sql in _FREE.get(each, ())):
        return given
    raise AskError(
        f"{given!r} is no form of an id: say a message (%... or ssb:message/...), a pzp message (base58), a node of an "
        "Autobase (HEX:LENGTH) or an event, whole or how it begins"
    )


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
