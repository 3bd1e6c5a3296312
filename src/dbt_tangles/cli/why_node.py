"""`tangles why` for an Autobase node: its place in each base and view, or the reasons why it was rejected."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.cause_path import write_causes, write_links
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page, truncate
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.root_causes import MOST_LINKS, find_root_causes
from dbt_tangles.cli.tables import Tables

_MOST = 100
_INHERITED = {"hole", "unknown_writer", "missing_head", "previous_set_aside"}


def explain(tables: Tables, node_id: str, only: str | None = None) -> dict:
    """Collect the rows about a node, in every base that has a node of this id.

    Args:
        tables: The warehouse's tables.
        node_id: `<writer>:<length>`.
        only: Keep only this base.
    """
    nodes = tables.rows_of("autobase_nodes", "base_id, role, is_ack, depth, is_head, votes", "node_id", node_id)
    rejects = tables.rows_of("autobase_rejects", "base_id, reason, detail, source_file, line", "node_id", node_id)
    bases: dict[str, dict] = {}
    for row in nodes:
        bases[row["base_id"]] = {**row, "is_used": True, "rejects": []}
    for row in rejects:
        base = bases.setdefault(row["base_id"], {"base_id": row["base_id"], "is_used": False, "rejects": []})
        base["rejects"].append(row)
    for row in tables.rows_of("autobase_links", "distinct base_id", "node_id", node_id):
        bases.setdefault(row["base_id"], {"base_id": row["base_id"], "is_used": False, "rejects": []})
    chosen = [base for base in bases.values() if only is None or base["base_id"] in candidate_texts(only)]
    chosen.sort(key=lambda base: base["base_id"] or "")
    answers = [_explain_base(tables, node_id, base) for base in chosen[:_MOST]]
    return {
        "kind": "node",
        "id": node_id,
        "bases": answers,
        "is_well": bool(answers) and all(base["is_used"] for base in answers),
    }


def _explain_base(tables: Tables, node_id: str, base: dict) -> dict:
    for reject in base["rejects"]:
        reject["meaning"] = messages.autobase(reject["reason"])
    answer = {**base, "follows": [], "followed_by": [], "causes": []}
    answer |= dict.fromkeys(("view", "settled", "unsettled", "next"))
    if base["base_id"] is None:
        return answer
    where = {"base": base["base_id"], "id": node_id}
    links = tables.rows(
        f"""select node_id, head_id, kind, is_known, is_before_start from {{autobase_links}}
        where base_id = $base and (node_id = $id or head_id = $id) order by all limit {2 * _MOST}""",
        **where,
    )
    answer["follows"] = [link for link in links if link["node_id"] == node_id]
    answer["followed_by"] = [link for link in links if link["node_id"] != node_id]
    if base["is_used"]:
        answer["view"] = tables.row(
            """select position, is_confirmed, value from {autobase_views}
            where base_id = $base and observer = 'all' and node_id = $id""",
            **where,
        )
        answer["settled"] = tables.row(
            """select confirmed_by, contender from {autobase_confirmations}
            where base_id = $base and observer = 'all' and node_id = $id""",
            **where,
        )
        answer["unsettled"] = tables.row(
            """select reason, contender, awaited_merge, missing_writers
            from {autobase_unsettled} where base_id = $base and node_id = $id""",
            **where,
        )
        return answer
    if _INHERITED & {reject["reason"] for reject in base["rejects"]}:
        answer["causes"] = _explain_causes(tables, node_id, base["base_id"])
    answer["next"] = tables.row(
        "select length, batch, heads from {autobase_next} where base_id = $base and writer = $writer",
        base=base["base_id"],
        writer=node_id.rpartition(":")[0],
    )
    return answer


def _explain_causes(tables: Tables, node_id: str, base_id: str) -> list[dict]:
    reasons = {
        row["node_id"]: row["reason"]
        for row in tables.rows(
            f"""select node_id, min(reason) as reason from {{autobase_rejects}}
            where base_id = $base and node_id is not null group by node_id order by node_id limit {MOST_LINKS}""",
            base=base_id,
        )
    }
    links = tables.rows(
        f"""select node_id, head_id, is_known, is_before_start from {{autobase_links}}
        where base_id = $base and node_id in (select unnest($ids)) order by all limit {MOST_LINKS}""",
        base=base_id,
        ids=list(reasons),
    )
    missing = {link["head_id"] for link in links if not link["is_known"] and not link["is_before_start"]}
    through = {id_ for id_, reason in reasons.items() if reason in _INHERITED}
    ends = missing | (reasons.keys() - through)
    paths = find_root_causes(((link["node_id"], link["head_id"]) for link in links), through, ends, node_id)
    return [
        {"id": end, "trouble": reasons.get(end, "missing"), "words": _trouble(reasons.get(end)), "path": paths[end]}
        for end in sorted(paths)
    ]


def _trouble(code: str | None) -> str:
    return f"{code}: {messages.autobase(code)}" if code else "not in the log"


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    page.line((answer["id"], ID))
    if not answer["bases"]:
        page.line("not in the base that --in names", indent=1)
    for base in answer["bases"]:
        _write_base(page, base)


def _write_base(page: Page, base: dict) -> None:
    name = ["base ", (base["base_id"] or "(unreadable)", STRONG), ": "]
    if base["is_used"]:
        place = [base["role"], f"depth {base['depth']}", f"votes {base['votes']}"]
        place += ["head"] * bool(base["is_head"]) + ["ack"] * bool(base["is_ack"])
        page.line(*name, ("in the base", GOOD), f", {', '.join(place)}", indent=1)
        _write_place(page, base)
    elif not base["rejects"]:
        page.line(*name, ("not in the base", BAD), indent=1)
    for reject in base["rejects"]:
        page.line(*name, ("line rejected", BAD), f": {reject['reason']}. {reject['meaning']}", indent=1)
        page.line(f"{reject['source_file']}:{reject['line']} {reject['detail'] or ''}".rstrip(), indent=2)
    write_links(page, "follows", "head_id", base["follows"], "log")
    write_links(page, "followed by", "node_id", base["followed_by"], "log")
    write_causes(page, base["causes"])
    if base["is_used"] or base["base_id"] is None:
        return
    if base["next"]:
        page.ids(
            f"to write it again, use length {base['next']['length']}, batch {base['next']['batch']} and heads",
            base["next"]["heads"],
            indent=2,
        )
    else:
        page.line("its writer is blocked: further nodes are rejected too until the root causes are resolved", indent=2)


def _write_place(page: Page, base: dict) -> None:
    view, settled = base["view"], base["settled"]
    if view:
        state = "settled" if view["is_confirmed"] else "not settled"
        page.line(f"position {view['position']} for an observer of all nodes, {state}", indent=2)
        if view["value"] is not None:
            page.line((truncate(view["value"], 100), DIM), indent=2)
    if settled and settled["confirmed_by"]:
        page.line("settled with ", (settled["confirmed_by"], ID), indent=2)
    if settled and settled["contender"]:
        page.line("delayed by ", (settled["contender"], ID), indent=2)
    if base["unsettled"]:
        _write_unsettled(page, base["unsettled"])


def _write_unsettled(page: Page, row: dict) -> None:
    if row["reason"] == "awaits_merge":
        page.line("waits for the merge ", (row["awaited_merge"], ID), " to be settled", indent=2)
    if row["contender"]:
        page.line("contends with ", (row["contender"], ID), indent=2)
    page.ids("lacks the next vote of", row["missing_writers"], indent=2)
