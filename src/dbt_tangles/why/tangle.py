"""A message in each tangle that it claims: its place as a member, or the root causes that set it aside."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.pasted_ids import as_sigil, candidate_texts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections
from dbt_tangles.why.causes import shortest_paths
from dbt_tangles.why.claims import claims_of

_SQL = sections(__file__, "message")
_MOST = 100


def explain_tangles(tables: Tables, message_id: str, only: str | None = None) -> list[dict]:
    """Collect the rows about a message in each tangle that it claims, or in those of a name or root `only`."""
    rows = tables.rows(_SQL["tangles"], id=message_id)
    rows = sorted(rows, key=lambda row: (row["tangle_name"] or "", row["root_id"] or ""))[:_MOST]
    if only is not None:
        rows = [row for row in rows if _is_meant(row["tangle_name"] or "", row["root_id"] or "", only)]
    return [_explain(tables, message_id, row) for row in rows]


def awaiting(tables: Tables, id_: str) -> list[dict]:
    """List the rows of `tangle_missing` for an id; at most 100."""
    return tables.rows(_SQL["awaiting"], id=id_)


def _is_meant(name: str, root: str, only: str) -> bool:
    texts = candidate_texts(only)
    return name in texts or root.startswith(tuple(as_sigil(text.removeprefix(f"{name}:")) for text in texts))


def _explain(tables: Tables, message_id: str, row: dict) -> dict:
    code = row["set_aside_reason"]
    answer = {**row, "meaning": messages.tangle(code) if code else None, "follows": [], "followed_by": []}
    answer |= {"causes": [], "next": None, "root_status": None, "faults": [], "record": None}
    if row["root_id"] is None:
        answer["causes"] = [_cause(message_id, [message_id], code, {})]
        return answer
    where = {"name": row["tangle_name"], "root": row["root_id"]}
    links = tables.rows(_SQL["links"], id=message_id, is_member=row["is_member"], **where)
    answer["follows"] = [link["previous_id"] for link in links if link["message_id"] == message_id][:_MOST]
    answer["followed_by"] = [link["message_id"] for link in links if link["previous_id"] == message_id][:_MOST]
    tangle = tables.row(_SQL["root"], **where)
    answer["root_status"] = tangle and tangle["root_status"]
    if row["is_member"]:
        answer["faults"] = tables.rows(_SQL["faults"], id=message_id, **where)
        if tables.files("records"):
            answer["record"] = tables.row(_SQL["record"], id=message_id, **where)
        return answer
    answer["causes"] = _explain_causes(tables, message_id, {**row, "root_status": answer["root_status"]}, where, links)
    answer["next"] = tables.row(_SQL["next"], **where)
    return answer


def _explain_causes(tables: Tables, message_id: str, row: dict, where: dict, links: list[dict]) -> list[dict]:
    """Return each root cause with its trouble, and a shortest path to it."""
    causes, root = row["blocked_by"] or [], where["root"]
    others = [cause for cause in causes if cause != message_id]
    paths: dict[str, list[str]] = {message_id: [message_id]}
    if others:
        paths |= shortest_paths(((link["message_id"], link["previous_id"]) for link in links), message_id, others)
    missing = {each.pop("missing_id"): each for each in tables.rows(_SQL["missing"], ids=causes, **where)}
    bad = {message_id: row["set_aside_reason"]} if message_id in causes else {}
    unclear = [cause for cause in others if cause not in missing]
    if unclear:
        own = tables.rows(_SQL["own_reasons"], ids=unclear, **where)
        bad |= {each["message_id"]: each["set_aside_reason"] for each in own}
    # The tangle misses its root, although no message lists it.
    if root in unclear and root not in bad and row["root_status"] in ("sealed", "unusable"):
        missing[root] = {"is_in_log": True, "is_sealed": row["root_status"] == "sealed"}
    for id_, claims in claims_of(tables, missing, ["message"]).items():
        missing[id_]["claimed_by"] = claims
    in_log = [id_ for id_, each in missing.items() if each["is_in_log"]]
    errors = tables.rows(_SQL["errors"], ids=in_log) if in_log else []
    for id_ in in_log:
        missing[id_]["check_error"] = next((each["check_error"] for each in errors if each["message_id"] == id_), None)
    return [
        _cause(cause, paths.get(cause) or ([message_id, cause] if cause == root else None), bad.get(cause), missing)
        for cause in causes
    ]


def _cause(cause: str, path: list[str] | None, reason: str | None, missing: dict) -> dict:
    row = {} if reason else missing.get(cause, {})
    if reason:
        trouble, words = reason, f"{reason}: {messages.tangle(reason)}"
    elif not row.get("is_in_log"):
        unlocked = row.get("unlocks")
        unlocks = f"; once it arrives, {quantity(unlocked, '{becomes a member|become members}')}" if unlocked else ""
        claimed = "".join(f"; {claim['words']}" for claim in row.get("claimed_by", ())[:1])
        trouble, words = "missing", f"not in the log{unlocks}{claimed}"
    elif row.get("is_sealed"):
        trouble, words = "sealed", f"in the log, and unknown: {messages.SEALED}"
    elif error := row.get("check_error"):
        trouble, words = "no_candidate", f"in the log but not verified, {error}: {messages.ssb(error)}"
    else:
        trouble, words = "no_candidate", "in the log, but it does not claim this tangle"
    return {"id": cause, "trouble": trouble, "path": path, **row, "words": words}
