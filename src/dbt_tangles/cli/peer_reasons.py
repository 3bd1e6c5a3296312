"""Explains differences between a peer's statement and the tables, for `tangles check`."""

from pathlib import Path
from typing import Any

from dbt_tangles.cli import messages
from dbt_tangles.cli.peer_answers import only_in_one
from dbt_tangles.cli.tables import Tables, is_unicode
from dbt_tangles.queries import sections
from dbt_tangles.why.claims import claims_of
from dbt_tangles.why.feed import state

_SQL = sections(Path(__file__).with_name("check.sql"))
#: The most ids of a list that are explained.
MOST = 3
#: The entries of `_entries` as a value of DuckDB.
_ENTRIES = "$entries::struct(statement varchar, side varchar, n integer, entry varchar)[]"
#: Kinds of statements about the subjects of another kind.
_SAME = {"root": "tangle", "tangle_name": "tangle", "set_id": "set", "base_id": "view", "timeline_id": "timeline"}
#: Kind of subject: the meanings of the codes at the ends of its explanations.
_MEANINGS = {
    "message": messages.ssb,
    "feed": lambda code: messages.OFF_CHAIN.get(code, ""),
    "tangle": lambda code: messages.SET_ASIDE.get(code, ""),
    "set": messages.pzp,
    "base": messages.autobase,
    "view": messages.autobase,
    "timeline": messages.event,
}


def explain(tables: Tables, kind: str, key: tuple[str, ...], differ: dict[str, dict]) -> list[str]:
    """Explain a difference, by the section `why_KIND` of check.sql.

    Args:
        tables: The warehouse's tables.
        kind: The kind of statement, a key of `peer_answers.KINDS`.
        key: The values of the subject's keys.
        differ: By key of the statement, the differing values of the peer and of the tables.

    Returns:
        Sentences; an empty list if the tables hold no explanation.
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
    """List the first entries of the peer's list only and of the tables' only, and those where their orders part."""
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
