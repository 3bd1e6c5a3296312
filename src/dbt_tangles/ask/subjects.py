"""What `tangles show` can show, found by an id or its beginning."""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_tangles.ask.ids import LAST, as_sigil
from dbt_tangles.ask.tables import AskError, Tables

_MOST, _FEW = 11, 3
_NAMED = re.compile(r"(.+):(%.*|ssb:.*)", re.DOTALL)
#: Kind: the table, its ids, their names, and which rows count.
KINDS = {
    "tangle": ("tangles", "root_id", "tangle_name", "tangle_name <> 'feed'"),
    "set": ("sets", "set_id", "coalesce(domain, '')", "true"),
    "group": ("group_epochs", "group_id", "''", "epoch_id = group_id"),
    "base": ("autobase_bases", "base_id", "''", "true"),
    "timeline": ("timeline_stats", "timeline_id", "''", "true"),
    "feed": ("feeds", "author", "''", "true"),
}


class Subject(NamedTuple):
    """Something that can be shown."""

    kind: str
    id: str
    name: str


def find(tables: Tables, given: str, kind: str | None) -> Subject | None:
    """Find what is meant; None if nothing is.

    Args:
        tables: Where to look.
        given: The id, or how it begins; of tangles the root, or `NAME:ROOT`.
        kind: Only this kind.

    Raises:
        AskError: It may be one of several.
    """
    found = [subject for each in ([kind] if kind else KINDS) for subject in _find(tables, given, each)]
    # Each tangle has a timeline of its own name; who asks for that says so.
    if len(found) > 1 and not kind:
        found = [subject for subject in found if subject.kind != "timeline"] or found
    if len(found) > 1:
        raise AskError("\n".join([f"{given} may be one of several; say which:", *map(_say, found[: _MOST - 1])]))
    return found[0] if found else None


def matching(tables: Tables, given: str) -> list[Subject]:
    """List what an id or its beginning may mean, at most a few of each kind, where it is no message."""
    return [subject for kind in KINDS if kind != "timeline" for subject in _find(tables, given, kind)[:_FEW]]


def _say(subject: Subject) -> str:
    if subject.kind == "tangle":
        return f"  {subject.name}:{subject.id} --as tangle"
    return f"  {subject.id} --as {subject.kind}"


def _find(tables: Tables, given: str, kind: str) -> list[Subject]:
    table, column, name, condition = KINDS[kind]
    named = _NAMED.fullmatch(given) if kind == "tangle" else None
    prefix = as_sigil(named[2] if named else given)
    rows = tables.rows(
        f"""select {column} as id, {name} as name from {{{table}}}
        where {column} >= $low and {column} < $high and {condition}
            and ($name is null or {name} = $name) order by 1, 2 limit {_MOST}""",
        low=prefix,
        high=prefix + LAST,
        name=named[1] if named else None,
    )
    exact = [row for row in rows if row["id"] == prefix]
    return [Subject(kind, row["id"], row["name"]) for row in exact or rows]
