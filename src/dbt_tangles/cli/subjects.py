"""What `tangles show` can show, found by an id or its beginning."""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_tangles.cli.forms import Form, as_sigil, first_form, forms, is_name
from dbt_tangles.cli.ids import LAST
from dbt_tangles.cli.tables import AskError, Tables

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
#: Rows that show that any text may be the id of a subject of this kind.
_FREE = {
    "base": "select 1 from {autobase_bases} limit 1",
    "timeline": "select 1 from {timeline_links} where kind = 'given' limit 1",
}
#: How ids of each kind look.
_FORMS = {
    "tangle": "a message (%... or ssb:message/...), NAME:ROOT of a tangle",
    "group": "a message (%... or ssb:message/...)",
    "feed": "a feed (@... or ssb:feed/...)",
    "set": "a pzp message (base58)",
    "base": "the name of a base",
    "timeline": "the name of a timeline",
}


class Subject(NamedTuple):
    """Something that can be shown."""

    kind: str
    id: str
    name: str


def find(tables: Tables, given: str, kind: str | None) -> list[Subject]:
    """Find the subject that is meant, or the tangles of one root; an empty list where there is none.

    Args:
        tables: Where to look.
        given: The id, or how it begins, as somebody pastes it; of tangles the root, or `NAME:ROOT`.
        kind: Only this kind.

    Raises:
        AskError: It may be one of several, or is no form of an id.
    """
    kinds = [kind] if kind else [*KINDS]
    found = _first(tables, given, kinds)
    if not found:
        _check_form(tables, given, kinds)
    # Each tangle has a timeline of its own name; who asks for that says so.
    if len(found) > 1 and not kind:
        found = [subject for subject in found if subject.kind != "timeline"] or found
    if len({(subject.kind, subject.id) for subject in found}) > 1:
        raise ambiguous(given, found)
    return found


def ambiguous(given: str, found: list[Subject]) -> AskError:
    """Make the error that lists the subjects of which one has to be named."""
    return AskError("\n".join([f"{given} may be one of several; say which:", *map(_say, found[: _MOST - 1])]))


def matching(tables: Tables, given: str) -> list[Subject]:
    """List what an id or its beginning may mean, at most a few of each kind, where it is no message."""
    kinds = [kind for kind in KINDS if kind != "timeline"]
    return [subject for kind in kinds for subject in _first(tables, given, [kind])[:_FEW]]


def _say(subject: Subject) -> str:
    if subject.kind == "tangle":
        return f"  {subject.name}:{subject.id} --as tangle"
    return f"  {subject.id} --as {subject.kind}"


def _check_form(tables: Tables, given: str, kinds: list[str]) -> None:
    """Raise AskError for a text that is no form of an id; bases and timelines of events may have any name."""
    is_free = any(tables.rows(_FREE[kind]) for kind in kinds if kind in _FREE) and (len(kinds) == 1 or is_name(given))
    if not is_free and first_form(given) is None:
        wanted = " or ".join(dict.fromkeys(_FORMS[kind] for kind in kinds))
        raise AskError(f"{given!r} is no form of an id: say {wanted}, whole or how it begins")


def _first(tables: Tables, given: str, kinds: list[str]) -> list[Subject]:
    """List the subjects that the first form of a text means which means any."""
    for form in forms(given):
        if found := [subject for kind in kinds for subject in _find(tables, form, kind)]:
            return found
    return []


def _find(tables: Tables, form: Form, kind: str) -> list[Subject]:
    table, column, name, condition = KINDS[kind]
    named = _NAMED.fullmatch(form.text) if kind == "tangle" else None
    prefix = as_sigil(named[2] if named else form.text)
    rows = tables.rows(
        f"""select {column} as id, {name} as name from {{{table}}}
        where {column} >= $low and {column} < $high and {condition}
            and ($name is null or {name} = $name) order by 1, 2 limit {_MOST}""",
        low=prefix,
        high=prefix + LAST,
        name=named[1] if named else None,
    )
    exact = [row for row in rows if row["id"] == prefix]
    return [Subject(kind, row["id"], row["name"]) for row in exact or (rows if form.may_go_on else [])]
