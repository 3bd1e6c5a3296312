"""A pzp message: its signature, its key and its sets."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections
from dbt_tangles.why.causes import find_root_causes
from dbt_tangles.why.claims import claims_of

_SQL = sections(__file__)
_MOST = 100
#: Reasons that lie in the messages that a message follows or in its account, not in the message itself.
_INHERITED = {"no_known_prev", *messages.UNDECIDED}
_SET_DOMAIN = "set_v1__"


def explain(tables: Tables, message_id: str, only: str | None = None) -> dict:
    """Collect the rows about a message of `pzp_messages`; of its sets only those whose id begins with `only`.

    `is_well` is true if the message is usable and valid in all its sets.
    """
    message = tables.row(_SQL["message"], id=message_id) or {}
    rows = tables.rows(_SQL["sets"], id=message_id)
    shown = [row for row in rows[:_MOST] if only is None or row["set_id"].startswith(candidate_texts(only))]
    sets = [_explain_set(tables, row) for row in shown]
    code, unknown = message.get("reject_reason"), sorted({"set_messages"} & tables.missing)
    return {
        "claimed_by": claims_of(tables, [message_id], ["pzp"]).get(message_id, []),
        "kind": "pzp",
        "id": message_id,
        "only": only,
        "is_verified": bool(message.get("is_usable")),
        "rule": code,
        "meaning": messages.pzp(code) if code else None,
        "message": message,
        "sets": sets,
        "in_no_set": None if rows else _explain_no_set(tables, message),
        "awaited_by": [row["message_id"] for row in tables.rows(_SQL["awaited_by"], id=message_id)],
        "unknown": unknown,
        "is_well": bool(message.get("is_usable")) and not unknown and all(row["is_valid"] for row in sets),
    }


def _explain_no_set(tables: Tables, message: dict) -> dict:
    """Return the reason why a message is outside all sets, and whether its data has the form of a set's anyway."""
    data = tables.row(_SQL["data"], id=message.get("message_id", "")) or {"has_items": False, "tangle_count": 1}
    if message.get("account") == "self":
        reason = "account_message"
    elif not (message.get("domain") or "").startswith(_SET_DOMAIN):
        reason = "no_set_domain"
    else:
        reason = "no_set_root" if data["tangle_count"] else "no_tangle"
    return {"reason": reason, "meaning": messages.IN_NO_SET[reason], "has_items": data["has_items"]}


def _explain_set(tables: Tables, row: dict) -> dict:
    where, code = {"set": row["set_id"], "id": row["message_id"]}, row["reject_reason"]
    links = tables.rows(_SQL["links"], **where)
    return {
        **row,
        "meaning": messages.pzp(code) if code else None,
        "follows": [link for link in links if link["message_id"] == row["message_id"]],
        "followed_by": [link for link in links if link["message_id"] != row["message_id"]],
        "faults": tables.rows(_SQL["faults"], **where),
        "causes": _explain_causes(tables, row) if code in _INHERITED else [],
        "next": None if row["is_valid"] else tables.row(_SQL["next"], set=row["set_id"]),
    }


def _explain_causes(tables: Tables, row: dict) -> list[dict]:
    """Search along `prev`, then along awaited account messages, for the missing or invalid messages at the ends."""
    rows = [*tables.rows(_SQL["bad"], set=row["set_id"]), row]
    bad = {each["message_id"]: each["reject_reason"] for each in rows}
    awaits = {each["message_id"]: each["awaited_ids"] for each in rows if each["awaited_ids"]}
    links = [(id_, other) for id_, ids in awaits.items() for other in ids]
    follows = tables.rows(_SQL["links_of"], set=row["set_id"], ids=list(bad.keys() - awaits.keys()))
    links += [(link["message_id"], link["other_id"]) for link in follows]
    named = list({other for _, other in links})
    known = {each["message_id"] for each in tables.rows(_SQL["known"], set=row["set_id"], ids=named)}
    paths = find_root_causes(links, bad, _INHERITED, set(named) - known, row["message_id"])
    in_log = tables.rows(_SQL["in_log"], ids=sorted(paths.keys() - bad.keys()))
    elsewhere = {each["message_id"]: each for each in in_log}
    return [{"id": end, "path": paths[end], **_trouble(bad.get(end), elsewhere.get(end))} for end in sorted(paths)]


def _trouble(code: str | None, found: dict | None) -> dict:
    """Describe a root cause: the reason of a message in the set, or the state in the log of one outside it."""
    code = code or (found or {}).get("reject_reason")
    if code:
        return {"trouble": code, "words": f"{code}: {messages.pzp(code)}"}
    if found and not found["has_data"]:
        return {"trouble": "erased", "words": "in the log without its data"}
    if found:
        return {"trouble": "elsewhere", "words": "in the log, but not in this set's tangle"}
    return {"trouble": "missing", "words": "not in the log"}
