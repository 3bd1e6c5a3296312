"""Resolves an id to the subject of a graph: a tangle, set, group, base, timeline or feed; completes ids in a shell."""

import os
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import click

from dbt_tangles.cli import ids
from dbt_tangles.cli.pasted_ids import Candidate, as_sigil, candidates, first_likely_id, is_name
from dbt_tangles.cli.tables import CommandError, Tables

_MOST, _FEW = 11, 3
_OFFERED = 20
_NAMED = re.compile(r"(.+):(%.*|ssb:.*)", re.DOTALL)
#: Kind: the table, the column of ids, the expression for names, and a condition on the rows.
KINDS = {
    "tangle": ("tangles", "root_id", "tangle_name", "tangle_name <> 'ssb:feed'"),
    "set": ("sets", "set_id", "coalesce(domain, '')", "true"),
    "group": ("group_epochs", "group_id", "''", "epoch_id = group_id"),
    "base": ("autobase_bases", "base_id", "''", "true"),
    "timeline": ("timeline_stats", "timeline_id", "''", "true"),
    "feed": ("feeds", "author", "''", "true"),
}
#: Kind: a query that returns a row if any text may be an id of the kind.
_FREE = {
    "base": "select 1 from autobase_bases limit 1",
    "timeline": "select 1 from timeline_links where kind = 'given' limit 1",
}
#: Kind: the forms of its ids, for errors.
_FORMS = {
    "tangle": "a message (%... or ssb:message/...), NAME:ROOT of a tangle",
    "group": "a message (%... or ssb:message/...)",
    "feed": "a feed (@... or ssb:feed/...)",
    "set": "a pzp message (base58)",
    "base": "the name of a base",
    "timeline": "the name of a timeline",
}


class Subject(NamedTuple):
    """A graph that `tangles show` can draw."""

    kind: str
    id: str
    name: str


def find(tables: Tables, given: str, kind: str | None) -> list[Subject]:
    """Find the subject of a pasted id, or all tangles on one root, or nothing; fail if several subjects match."""
    kinds = [kind] if kind else [*KINDS]
    found = _first(tables, given, kinds)
    if not found:
        _check_form(tables, given, kinds)
    # Each tangle has a timeline of the same name; `--kind timeline` selects it.
    if len(found) > 1 and not kind:
        found = [subject for subject in found if subject.kind != "timeline"] or found
    if len({(subject.kind, subject.id) for subject in found}) > 1:
        raise ambiguous(given, found)
    return found


def find_feeds(tables: Tables, given: str) -> list[Subject]:
    """Find the feed of an id that begins with @ or `ssb:feed`; an empty list for other texts."""
    found = [subject for subject in _first(tables, given, ["feed"]) if subject.id.startswith("@")]
    if len(found) > 1:
        raise ambiguous(given, found)
    return found


def other_names(tables: Tables, given: str) -> list[str]:
    """List, as `NAME:ROOT`, the tangles on the root of a `NAME:ROOT` whose name the root does not have."""
    named = _NAMED.fullmatch(given)
    return [f"{subject.name}:{subject.id}" for subject in (_first(tables, named[2], ["tangle"]) if named else [])]


def ambiguous(given: str, found: list[Subject]) -> CommandError:
    """Make the error that lists the matching subjects."""
    lines = [f"{given} matches several; give one of:"]
    for kind, id_, name in found[: _MOST - 1]:
        lines.append(f"  {f'{name}:' if kind == 'tangle' else ''}{id_} --kind {kind}")
    return CommandError("\n".join(lines))


def matching(tables: Tables, given: str) -> list[Subject]:
    """List the subjects other than timelines that match an id or its beginning, at most three of each kind."""
    kinds = [kind for kind in KINDS if kind != "timeline"]
    return [subject for kind in kinds for subject in _first(tables, given, [kind])[:_FEW]]


def _check_form(tables: Tables, given: str, kinds: list[str]) -> None:
    """Raise CommandError for a text that does not look like an id; bases and timelines of events may have any name."""
    is_free = any(tables.rows(_FREE[kind]) for kind in kinds if kind in _FREE) and (len(kinds) == 1 or is_name(given))
    if not is_free and first_likely_id(given) is None:
        wanted = " or ".join(dict.fromkeys(_FORMS[kind] for kind in kinds))
        raise CommandError(f"{given!r} does not look like an id; give {wanted}, whole or its beginning")


def _first(tables: Tables, given: str, kinds: list[str]) -> list[Subject]:
    """List the subjects of the first form of a text that matches any."""
    for candidate in candidates(given):
        if found := [subject for kind in kinds for subject in _find(tables, candidate, kind)]:
            return found
    return []


def _find(tables: Tables, candidate: Candidate, kind: str) -> list[Subject]:
    table, column, name, condition = KINDS[kind]
    named = _NAMED.fullmatch(candidate.text) if kind == "tangle" else None
    prefix = as_sigil(named[2] if named else candidate.text)
    sql = f"""select {column} as id, {name} as name from {table}
        where {column} >= $low and {column} < $high and {condition}
            and ($name is null or {name} = $name) order by 1, 2 limit {_MOST}"""
    rows = tables.rows(sql, low=prefix, high=prefix + ids.LAST, name=named[1] if named else None)
    exact = [row for row in rows if row["id"] == prefix]
    return [Subject(kind, row["id"], row["name"]) for row in exact or (rows if candidate.may_be_prefix else [])]


def _completer(find: Callable[[Tables, str], Iterable[str]]) -> Callable[..., list[str]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        if not incomplete:
            return []  # A list of all ids helps no user.
        place = [
            ctx.params.get(name) or os.environ.get(f"TANGLES_{name.upper()}") or default
            for name, default in (("warehouse", "warehouse"), ("schema", "tangles"))
        ]
        try:
            found = sorted(set(find(Tables(*place), incomplete)))
        except CommandError:
            return []
        # Names with control characters are left out: a log may choose them to attack the terminal.
        return [id_ for id_ in found if id_.startswith(incomplete) and id_.isprintable()][:_OFFERED]

    return complete


#: Completes ids of messages, nodes and events.
complete_ids = _completer(lambda tables, begin: (each.id for each in ids.find(tables, begin)))
#: Completes ids of the subjects of `tangles show`.
complete_subjects = _completer(lambda tables, begin: (each.id for each in matching(tables, begin)))
