"""Explains a message in each tangle that it claims: its place as a member, or the root causes that set it aside."""

from dbt_tangles.cli import messages, record
from dbt_tangles.cli.cause_path import write_causes
from dbt_tangles.cli.claims import claims_of
from dbt_tangles.cli.duplicate_tangles import merge_equal
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page, join_names, quantity
from dbt_tangles.cli.pasted_ids import as_sigil, candidate_texts
from dbt_tangles.cli.root_causes import MOST_LINKS, shortest_paths
from dbt_tangles.cli.tables import Tables

_COLUMNS = """tangle_name, root_id, is_member, set_aside_reason, blocked_by, depth, is_root, is_tip, is_fork, is_merge,
    position, concurrent_count, tie_broken_with"""
_MOST = 100
#: The most root causes that a build keeps for a message (docs/adr/002-tangles.md).
_MOST_CAUSES = 100


def explain_tangles(tables: Tables, message_id: str, only: str | None = None) -> list[dict]:
    """Collect the rows about a message in each tangle that it claims.

    Args:
        tables: The warehouse's tables.
        message_id: The message's id.
        only: Keep only tangles with this name, whose root begins with this text, or both as `NAME:ROOT`.
    """
    rows = tables.rows_of("tangle_messages", _COLUMNS, "message_id", message_id)
    rows = sorted(rows, key=lambda row: (row["tangle_name"] or "", row["root_id"] or ""))[:_MOST]
    if only is not None:
        rows = [row for row in rows if _is_meant(row["tangle_name"] or "", row["root_id"] or "", only)]
    return [_explain(tables, message_id, row) for row in rows]


def _is_meant(name: str, root: str, only: str) -> bool:
    texts = candidate_texts(only)
    return name in texts or root.startswith(tuple(as_sigil(text.removeprefix(f"{name}:")) for text in texts))


def _explain(tables: Tables, message_id: str, row: dict) -> dict:
    code = row["set_aside_reason"]
    answer = {**row, "meaning": messages.SET_ASIDE.get(code) if code else None, "follows": [], "followed_by": []}
    answer |= {"causes": [], "next": None, "root_status": None, "faults": [], "record": None}
    if row["root_id"] is None:
        answer["causes"] = [_cause(message_id, "", {}, {message_id: code}, {}, message_id)]
        return answer
    where = {"name": row["tangle_name"], "root": row["root_id"]}
    # If the message is set aside, read the links of all messages that are: the paths to root causes go along them.
    links = tables.rows(
        f"""select message_id, previous_id from {{tangle_edges}}
        where tangle_name = $name and root_id = $root
            and (message_id = $id or previous_id = $id or (not is_member_edge and not $is_member))
        order by message_id = $id desc, previous_id = $id desc, message_id, previous_id limit {MOST_LINKS}""",
        id=message_id,
        is_member=row["is_member"],
        **where,
    )
    answer["follows"] = [link["previous_id"] for link in links if link["message_id"] == message_id][:_MOST]
    answer["followed_by"] = [link["message_id"] for link in links if link["previous_id"] == message_id][:_MOST]
    tangle = tables.row("select root_status from {tangles} where tangle_name = $name and root_id = $root", **where)
    answer["root_status"] = tangle and tangle["root_status"]
    if row["is_member"]:
        answer["faults"] = tables.rows(
            """select fault, message_ids from {tangle_writer_faults}
            where tangle_name = $name and root_id = $root and message_id = $id order by fault""",
            id=message_id,
            **where,
        )
        answer["record"] = record.explain_member(tables, message_id=message_id, **where)
        return answer
    answer["causes"] = _explain_causes(tables, message_id, {**row, "root_status": answer["root_status"]}, where, links)
    answer["next"] = tables.row(
        "select previous, depth from {tangle_next} where tangle_name = $name and root_id = $root", **where
    )
    return answer


def _explain_causes(tables: Tables, message_id: str, row: dict, where: dict, links: list[dict]) -> list[dict]:
    """Return each root cause with its trouble, and a shortest path to it."""
    causes = row["blocked_by"] or []
    others = [cause for cause in causes if cause != message_id]
    paths: dict[str, list[str]] = {message_id: [message_id]}
    if others:
        paths |= shortest_paths(((link["message_id"], link["previous_id"]) for link in links), message_id, others)
    missing = {
        row_of_missing.pop("missing_id"): row_of_missing
        for row_of_missing in tables.rows(
            """select missing_id, is_in_log, is_sealed, waiting_count, blocked_count, unlocks from {tangle_missing}
            where tangle_name = $name and root_id = $root and missing_id in (select unnest($ids))""",
            ids=causes,
            **where,
        )
    }
    bad = {message_id: row["set_aside_reason"]} if message_id in causes else {}
    unclear = [cause for cause in others if cause not in missing]
    if unclear:
        bad |= _own_reasons(tables, unclear, where)
    # The tangle misses its root, although no message lists it.
    if where["root"] in unclear and where["root"] not in bad and row["root_status"] in ("sealed", "unusable"):
        missing[where["root"]] = {"is_in_log": True, "is_sealed": row["root_status"] == "sealed"}
    for id_, claims in claims_of(tables, missing, ["message"]).items():
        missing[id_]["claimed_by"] = claims
    in_log = [id_ for id_, row_of_missing in missing.items() if row_of_missing["is_in_log"]]
    errors = _errors(tables, in_log) if in_log else {}
    for id_ in in_log:
        missing[id_]["check_error"] = errors.get(id_)
    return [_cause(cause, where["root"], paths, bad, missing, message_id) for cause in causes]


def _own_reasons(tables: Tables, ids: list[str], where: dict) -> dict[str, str]:
    rows = tables.rows(
        """select message_id, set_aside_reason from {tangle_messages}
        where tangle_name = $name and root_id = $root and not is_member and message_id in (select unnest($ids))""",
        ids=ids,
        **where,
    )
    return {row["message_id"]: row["set_aside_reason"] for row in rows}


def _errors(tables: Tables, ids: list[str]) -> dict[str, str | None]:
    """Return the `check_error` of some messages in the log, by id."""
    rows = tables.rows(
        "select message_id, check_error from {ssb_messages} where message_id in (select unnest($ids))", ids=ids
    )
    return {row["message_id"]: row["check_error"] for row in rows}


def _cause(cause: str, root: str, paths: dict, bad: dict, missing: dict, message_id: str) -> dict:
    path = paths.get(cause) or ([message_id, cause] if cause == root else None)
    row_of_missing = {} if cause in bad else missing.get(cause, {})
    there = "sealed" if row_of_missing.get("is_sealed") else "no_candidate"
    trouble = bad.get(cause) or (there if row_of_missing.get("is_in_log") else "missing")
    found = {"id": cause, "trouble": trouble, "path": path, **row_of_missing}
    return {**found, "words": _trouble(found)}


def write_tangles(page: Page, message_id: str, tangles: list[dict], only: str | None) -> None:
    """Print the place of a message in its tangles; duplicate tangles of one root once, with both names."""
    if not tangles:
        page.line(f"tangles: it claims none{'' if only is None else f' that {only} names'}", indent=1)
    for names, tangle in merge_equal(tangles):
        root = tangle["root_id"]
        name = ["tangle ", (join_names(names), STRONG)] if tangle["tangle_name"] is not None else [_NAMELESS]
        name += [" on ", (root, ID)] if root else [", unreadable root"]
        if tangle["is_member"]:
            page.line(*name, ": ", ("member", GOOD), _place(tangle), indent=1)
        else:
            page.line(*name, ": ", ("set aside", BAD), f": {tangle['set_aside_reason']}. {tangle['meaning']}", indent=1)
        if tangle["root_status"] in _ROOTS:
            page.line(_ROOTS[tangle["root_status"]], indent=2)
        _write_concurrency(page, tangle)
        page.ids("follows", tangle["follows"], indent=2)
        page.ids("followed by", tangle["followed_by"], indent=2)
        for fault in tangle["faults"]:
            page.ids(f"writer fault {fault['fault']}:", fault["message_ids"], indent=2)
        record.write_member(page, tangle["record"])
        if not tangle["is_member"]:
            _write_causes(page, message_id, tangle)


_NAMELESS = "claim without a tangle's name"
#: The form of a valid claim, printed below a malformed one.
_FORM = [
    "in it, content.tangles maps each tangle's name to {root, previous}: root is a message's id (%... or "
    "ssb:message/...), previous a list of ids; in a tangle's first message both are null",
    "the older fields are root (an id) and branch (ids)",
]
#: Words for a message that is in the log, encrypted.
SEALED = "in this export it is sealed (encrypted), and a decrypted export settles it"
_ROOTS = {
    "missing": "the root is not in the log",
    "sealed": f"the root is in the log: {SEALED}",
    "unusable": "the root is in the log, but it is not verified or does not start such a tangle",
    "too_large": "the tangle has more candidates than graph_limit allows",
}


#: Trouble of a message that may be a member: the remedy.
_UNKNOWN = {
    "missing": "get the missing messages from a peer",
    "sealed": "build again with an export in which the sealed messages are decrypted",
}


def _place(tangle: dict) -> str:
    place = [f"depth {tangle['depth']}, position {tangle['position']}"]
    place += [mark for mark in ("root", "tip", "fork", "merge") if tangle[f"is_{mark}"]]
    return ", " + ", ".join(place)


def _write_concurrency(page: Page, tangle: dict) -> None:
    """Print the number of concurrent members, and the neighbour in the order that the message does not follow."""
    if tangle["concurrent_count"]:
        others = quantity(tangle["concurrent_count"], "{member|members}")
        page.line(f"concurrent with {others}: no path leads from one to the other", indent=2)
    if tangle["tie_broken_with"]:
        page.ids(
            "by convention (time, then id) and not by cause it stands behind", [tangle["tie_broken_with"]], indent=2
        )


def _write_causes(page: Page, message_id: str, tangle: dict) -> None:
    if tangle["set_aside_reason"] == "tangle_too_large":
        page.line("what to do: build with a larger graph_limit, on workers with enough memory", indent=2)
        return
    own = [cause for cause in tangle["causes"] if cause["id"] == message_id]
    others = [cause for cause in tangle["causes"] if cause["id"] != message_id]
    write_causes(page, others)
    if len(tangle["causes"]) == _MOST_CAUSES:
        page.line((f"there may be more: a build keeps the first {_MOST_CAUSES}", DIM), indent=2)
    page.line("what to do:", indent=2)
    again = "publish it with"
    troubles = {cause["trouble"] for cause in others}
    if not own and troubles and troubles <= _UNKNOWN.keys():
        for trouble in sorted(troubles):
            page.line(_UNKNOWN[trouble], indent=3)
        again = "or publish it again, with"
    elif own or others:
        page.line("publish a new message, because a signed message cannot be corrected", indent=3)
    if tangle["set_aside_reason"] == "malformed_tangle":
        for text in _FORM:
            page.line(text, indent=3)
    if tangle["next"]:
        page.ids(
            f"{again} root {tangle['root_id']} and previous",
            tangle["next"]["previous"],
            indent=3,
        )
    elif tangle["root_id"]:
        page.line("it cannot be published again before the log shows the root", indent=3)


def _trouble(cause: dict) -> str:
    if cause["trouble"] == "missing":
        unlocked = cause.get("unlocks")
        unlocks = f"; once it arrives, {quantity(unlocked, '{becomes a member|become members}')}" if unlocked else ""
        claimed = "".join(f"; {claim['words']}" for claim in cause.get("claimed_by", ())[:1])
        return f"not in the log{unlocks}{claimed}"
    if cause["trouble"] == "sealed":
        return f"in the log, and unknown: {SEALED}"
    if cause["trouble"] == "no_candidate":
        error = cause.get("check_error")
        if error:
            return f"in the log but not verified, {error}: {messages.ssb(error)}"
        return "in the log, but it does not claim this tangle"
    return f"{cause['trouble']}: {messages.SET_ASIDE.get(cause['trouble'], '')}"
