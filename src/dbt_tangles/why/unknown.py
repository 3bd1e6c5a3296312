"""An id that is not in the log: lines that claim it, references to it, and similar ids."""

from dbt_tangles.cli import subjects
from dbt_tangles.cli.duplicate_tangles import merge_equal
from dbt_tangles.cli.ids import PLACES
from dbt_tangles.cli.page import join_names
from dbt_tangles.cli.tables import Tables
from dbt_tangles.why.claims import claims_of
from dbt_tangles.why.tangle import awaiting

_MOST = 100
_NEAR = 3

_TANGLE = "tangle_name || ':' || root_id"
#: References to ids: their name, the table, the columns of the referring id and of the place, and a condition on rows.
_REFERENCES = [
    ("tangle", "tangle_edges", "message_id", _TANGLE, "previous_id = $id and tangle_name <> 'ssb:feed'"),
    ("tangle root", "tangle_messages", "message_id", "tangle_name", "root_id = $id and message_id <> root_id"),
    ("feed", "ssb_messages", "message_id", "author", "previous_id = $id"),
    ("set", "set_links", "message_id", "set_id", "other_id = $id"),
    ("set root", "set_messages", "message_id", "domain", "set_id = $id and message_id <> set_id"),
    ("base", "autobase_links", "node_id", "base_id", "head_id = $id"),
    ("timeline", "timeline_links", "event_id", "timeline_id", "cause_id = $id and kind = 'given'"),
    ("account", "pzp_messages", "message_id", "account", "list_contains(awaited_ids, $id)"),
]
_OF_MESSAGES = {"tangle", "tangle root", "feed"}


def explain(tables: Tables, given: str) -> dict:
    """Collect the lines that claim an id and the references to it; without either, ids with a long common prefix."""
    is_sigil = given.startswith("%")
    referrers = []
    for how, table, who, where, condition in _REFERENCES:
        if is_sigil and how not in _OF_MESSAGES and how != "timeline":
            continue
        if how == "timeline" and not tables.rows("select 1 from timeline_links where kind = 'given' limit 1"):
            continue
        sql = f"select {who} as id, {where} as place from {table} where {condition} order by all limit {_MOST}"
        referrers += [{"how": how, **row} for row in tables.rows(sql, id=given)]
    missing = awaiting(tables, given)
    whole = subjects.matching(tables, given)
    claimed = claims_of(tables, [given]).get(given, [])
    near = [] if referrers or missing or whole or claimed else _nearest(tables, given)
    return {
        "kind": None,
        "id": given,
        "referred_to_by": referrers,
        "awaited_by": missing,
        "claimed_by": claimed,
        "known_as": [subject._asdict() for subject in whole],
        "near": near,
        "is_well": False,
    }


def _nearest(tables: Tables, given: str) -> list[dict]:
    """List the ids with the longest prefix in common, among the neighbours of an id in sorted order."""
    near = []
    for kind, places in PLACES.items():
        if given.startswith("%") and kind != "message":
            continue
        table, column = places[0]
        only = "message_id is null and " if kind == "event" else ""
        sql = f"""select min({column}, {_NEAR}) filter (where {column} >= $id) as behind,
            max({column}, {_NEAR}) filter (where {column} < $id) as before from {table} where {only}true"""
        found = tables.row(sql, id=given) or {}
        near += [{"kind": kind, "id": id_} for ids in found.values() for id_ in ids or []]
    near = [dict(pair) for pair in {tuple(each.items()) for each in near}]
    near.sort(key=lambda each: (-_alike(each["id"], given), each["id"]))
    return [each for each in near if _alike(each["id"], given) > given.startswith("%")][:_NEAR]


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    differ = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def by_place(referrers: list[dict]) -> list[tuple[str, dict]]:
    """Return the place of each reference; a reference in duplicate tangles of one root once, under both names."""
    split = []
    for row in referrers:
        # The place of a link is `NAME:ROOT`, that of a claim on a root is its name.
        name, colon, root = row["place"].rpartition(":") if row["how"] == "tangle" else (row["place"], "", "")
        split.append({"how": row["how"], "id": row["id"], "name": name, "root": f"{colon}{root}"})
    return [(f"{join_names(names)}{row['root']}", row) for names, row in merge_equal(split, "name")]
