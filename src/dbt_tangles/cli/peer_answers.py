"""Compares the statements of a peer about its log with the tables, in batches of lines, and explains differences."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dbt_tangles.cli import messages
from dbt_tangles.cli.pasted_ids import as_sigil
from dbt_tangles.cli.tables import Tables, is_unicode
from dbt_tangles.queries import sections
from dbt_tangles.why.claims import claims_of
from dbt_tangles.why.feed import state

_SQL = sections(__file__, "check")
#: Lines in a batch.
AT_ONCE = 5_000
_MOST_CHARACTERS = 16 * 2**20

AGREE, DIFFER, UNKNOWN, UNREADABLE = "agree", "differ", "unknown", "unreadable"


class Kind(NamedTuple):
    """A kind of statement, see check.yml."""

    keys: list[str]
    says: dict[str, str]
    means: str


KINDS = {
    name: Kind(**kind)
    for name, kind in yaml.safe_load(Path(__file__).with_name("check.yml").read_text(encoding="utf-8")).items()
}
_TYPES = {"true or false": bool, "a number": int, "a string": str, "a list of strings": list}
#: The kinds that name a tangle by its root and name.
_TANGLES = ("root", "tangle_name")
#: The keys whose lists are compared as sets.
_UNORDERED = ("previous", "members", "items", "tips", "item_roots")
#: The most ids of a list that are explained.
MOST = 3
#: The entries of `_entries` as a value of DuckDB.
_ENTRIES = "$entries::struct(statement varchar, side varchar, n integer, entry varchar)[]"
#: Kinds of statements about the subjects of another kind.
_SAME = {"root": "tangle", "tangle_name": "tangle", "set_id": "set", "base_id": "view", "timeline_id": "timeline"}
#: Kind of subject: the meanings of the codes at the ends of its explanations.
_MEANINGS = {
    "message": messages.ssb,
    "feed": messages.feed,
    "tangle": messages.tangle,
    "set": messages.pzp,
    "base": messages.autobase,
    "view": messages.autobase,
    "timeline": messages.event,
}


class _Statement(NamedTuple):
    line: int
    kind: str
    key: tuple[str, ...]
    said: dict[str, Any]


def check(tables: Tables, lines: Iterable[str]) -> Iterator[dict]:
    """Compare a peer's statements, one a line, with the tables.

    Returns:
        For each line that is not empty: its number, `about` (the subject), and `verdict`: AGREE; DIFFER, with the
        values of the peer and of the tables; UNKNOWN if the subject is not in the tables; UNREADABLE, with the
        problem as `detail`.
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    while batch := [_read(*each) for each in islice(numbered, AT_ONCE)]:
        yield from _check(tables, batch)


def _read(number: int, line: str) -> _Statement | dict:
    try:
        return _Statement(number, *_parse(line))
    except ValueError as error:
        return {"line": number, "about": None, "verdict": UNREADABLE, "detail": str(error)}


def _parse(line: str) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """Return the kind, the key and the values of a statement; raise ValueError with the problem."""
    if len(line) > _MOST_CHARACTERS:
        raise ValueError(f"longer than {_MOST_CHARACTERS:,} characters")
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(said, dict):
        raise ValueError("not a JSON object")
    kind = next((kind for kind in KINDS if kind in said), None)
    if kind is None:
        raise ValueError(f"no subject; the line must have one of {', '.join(KINDS)}")
    keys, says = KINDS[kind].keys, KINDS[kind].says
    if not all(isinstance(said.get(key), str) for key in keys):
        raise ValueError(f"{' and '.join(keys)} must be strings")
    if not all(is_unicode(said[key]) for key in keys):
        raise ValueError("a key has a lone surrogate, which is not Unicode")
    told = {name: said[name] for name in says if name in said}
    if not told:
        raise ValueError(f"no statement; the line must have one of {', '.join(says)}")
    for name, value in told.items():
        type_ = _TYPES[says[name]]
        fits = isinstance(value, type_) and (type_ is not int or not isinstance(value, bool))
        if not fits or (type_ is list and not all(isinstance(each, str) for each in value)):
            raise ValueError(f"{name} must be {says[name]}")
    return kind, tuple(as_sigil(said[name]) for name in keys), {name: _in_sigils(told[name]) for name in told}


def _in_sigils(value: Any) -> Any:
    if isinstance(value, list):
        return [as_sigil(each) for each in value]
    return as_sigil(value) if isinstance(value, str) else value


def _check(tables: Tables, batch: list[_Statement | dict]) -> Iterator[dict]:
    known: dict[tuple, dict] = {}
    for name, kind in KINDS.items():
        ids = sorted({each.key[0] for each in batch if isinstance(each, _Statement) and each.kind == name})
        for row in tables.rows(_SQL[name], ids=ids) if ids else ():
            known[(name, *(row[key] for key in kind.keys))] = row
        if name == "message":  # One whose id only a line with another computed id claims is not valid.
            lost = [id_ for id_ in ids if (name, id_) not in known]
            known |= {(name, id_): {"valid": False} for id_ in (claims_of(tables, lost, [name]) if lost else ())}
    for each in batch:
        if isinstance(each, dict):
            yield each
            continue
        about = f"tangle {each.key[1]}:{each.key[0]}" if each.kind in _TANGLES else " ".join((each.kind, *each.key))
        answer = {"line": each.line, "kind": each.kind, "about": about}
        row = known.get((each.kind, *each.key))
        if row is None:
            yield answer | {"verdict": UNKNOWN}
            continue
        differ = {
            name: {"peer": value, "tables": row[name]}
            for name, value in each.said.items()
            if not _is_same(name, value, row[name])
        }
        yield answer | ({"verdict": DIFFER, "differ": differ, "key": each.key} if differ else {"verdict": AGREE})


def only_in_one(peer: list[str], ours: list[str] | None) -> tuple[list[str], list[str]]:
    """Return the entries of the peer's list only, and of the tables' list only, in their orders, in linear time."""
    of_peer, of_ours = set(peer), set(ours or ())
    return [each for each in peer if each not in of_ours], [each for each in ours or () if each not in of_peer]


def _is_same(name: str, one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return sorted(one) == sorted(other or []) if name in _UNORDERED else one == (other or [])
    return one == other


def explain(tables: Tables, kind: str, key: tuple[str, ...], differ: dict[str, dict]) -> list[str]:
    """Explain a difference in sentences, by the section `why_KIND` of check.sql; an empty list without an explanation.

    `key` has the values of the subject's keys, and `differ` the values of the peer and of the tables by name.
    """
    kind = _SAME.get(kind, kind)
    sql = "select $id as subject_id, $second as second, $statements as statements"
    tables.keep("subject", sql, id=key[0], second=key[-1], statements=[*differ])
    entries = [entry for name, both in differ.items() for entry in _entries(name, both["peer"], both["tables"])]
    tables.keep("differing", f"select unnest({_ENTRIES}, recursive := true)", entries=entries)
    rows = tables.rows(_SQL[f"why_{kind}"])
    if kind == "message" and not rows:
        return _claims(tables, key[0])
    feed = tables.row(_SQL["feed_state"], id=key[0]) if kind == "feed" else None
    said = [state(feed)] if feed else []
    for row in rows:
        if row["words"]:
            meaning = _MEANINGS[kind](row["code"]) if row["code"] else ""
            claims = _claims(tables, row["lost"]) if row["lost"] else []
            said.append("; ".join([row["words"] + meaning, *claims]))
    return said


def _entries(name: str, peer: Any, ours: Any) -> list[dict]:
    """List entries to explain, at most `MOST` a side.

    The sides are `peer` and `tables`, for entries of one list only, and `parting`: those of the peer only, or without
    any the first one that stands elsewhere. A value that is no list is the one entry of `peer`.
    """
    sides = {"peer": [str(peer)]}
    if isinstance(peer, list):
        only_peer, only_ours = only_in_one(peer, ours)
        parting = only_peer or [one for one, other in zip(peer, ours or [], strict=False) if one != other][:1]
        sides = {"peer": only_peer, "tables": only_ours, "parting": parting}
    entries = [(side, entry) for side, entries in sides.items() for entry in entries[:MOST] if is_unicode(entry)]
    return [{"statement": name, "side": side, "n": n, "entry": entry} for n, (side, entry) in enumerate(entries)]


def _claims(tables: Tables, id_: str) -> list[str]:
    """Describe the lines that claim an id."""
    return [claim["words"] for claim in claims_of(tables, [id_], ["message"]).get(id_, [])[:MOST]]
