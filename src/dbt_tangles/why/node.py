"""An Autobase node: its place in each base and view, or the reasons why it was rejected."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections
from dbt_tangles.why.causes import find_root_causes

_SQL = sections(__file__)
_MOST = 100
_INHERITED = {"hole", "unknown_writer", "missing_head", "previous_set_aside"}


def explain(tables: Tables, node_id: str, only: str | None = None) -> dict:
    """Collect the rows about a node `<writer>:<length>`, in every base that has it, or in the base `only`."""
    bases = {row["base_id"]: {**row, "is_used": True, "rejects": []} for row in tables.rows(_SQL["nodes"], id=node_id)}
    rejects = tables.rows(_SQL["rejects"], id=node_id)
    for row in [*rejects, *tables.rows(_SQL["bases"], id=node_id)]:
        bases.setdefault(row["base_id"], {"base_id": row["base_id"], "is_used": False, "rejects": []})
    for row in rejects:
        bases[row["base_id"]]["rejects"].append(row | {"meaning": messages.autobase(row["reason"])})
    chosen = [base for base in bases.values() if only is None or base["base_id"] in candidate_texts(only)]
    chosen.sort(key=lambda base: base["base_id"] or "")
    answers = [_explain_base(tables, node_id, base) for base in chosen[:_MOST]]
    is_well = bool(answers) and all(base["is_used"] for base in answers)
    return {"kind": "node", "id": node_id, "bases": answers, "is_well": is_well}


def _explain_base(tables: Tables, node_id: str, base: dict) -> dict:
    answer = {**base, "follows": [], "followed_by": [], "causes": []}
    answer |= dict.fromkeys(("view", "settled", "unsettled", "next"))
    if base["base_id"] is None:
        return answer
    where = {"base": base["base_id"], "id": node_id}
    links = tables.rows(_SQL["links"], **where)
    answer["follows"] = [link for link in links if link["node_id"] == node_id]
    answer["followed_by"] = [link for link in links if link["node_id"] != node_id]
    if base["is_used"]:
        return answer | {part: tables.row(_SQL[part], **where) for part in ("view", "settled", "unsettled")}
    if _INHERITED & {reject["reason"] for reject in base["rejects"]}:
        answer["causes"] = _explain_causes(tables, node_id, base["base_id"])
    answer["next"] = tables.row(_SQL["next"], base=base["base_id"], writer=node_id.rpartition(":")[0])
    return answer


def _explain_causes(tables: Tables, node_id: str, base_id: str) -> list[dict]:
    reasons = {row["node_id"]: row["reason"] for row in tables.rows(_SQL["reasons"], base=base_id)}
    links = tables.rows(_SQL["links_of"], base=base_id, ids=list(reasons))
    missing = {link["head_id"] for link in links if not link["is_known"] and not link["is_before_start"]}
    pairs = ((link["node_id"], link["head_id"]) for link in links)
    paths = find_root_causes(pairs, reasons, _INHERITED, missing, node_id)
    causes = []
    for end in sorted(paths):
        code = reasons.get(end)
        words = f"{code}: {messages.autobase(code)}" if code else "not in the log"
        causes.append({"id": end, "trouble": code or "missing", "words": words, "path": paths[end]})
    return causes
