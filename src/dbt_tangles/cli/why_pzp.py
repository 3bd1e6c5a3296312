"""`tangles why` for a pzp message: its signature, its key and its sets."""

from dbt_tangles.cli import messages
from dbt_tangles.cli.cause_path import write_causes, write_links
from dbt_tangles.cli.claims import claims_of
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page
from dbt_tangles.cli.pasted_ids import candidate_texts
from dbt_tangles.cli.root_causes import MOST_LINKS, find_root_causes
from dbt_tangles.cli.tables import Tables

_MOST = 100
_COLUMNS = """message_id, account, domain, sigkey, line_count, is_moot, has_data, is_data_valid, is_signature_valid,
    is_key_authorised, awaited_ids, is_usable, is_id_consistent, claimed_id, account_tips,
    reject_reason"""
_IN_SET = """set_id, message_id, depth, is_valid, is_held, reject_reason, awaited_ids, position, is_root, is_item_root,
    is_tip, purpose, action"""
#: Reasons that lie in the messages that a message follows or in its account, not in the message itself.
_INHERITED = {"no_known_prev", *messages.UNDECIDED}
_SET_DOMAIN = "set_v1__"
_OWN_ACCOUNTS = ("self", "any")


def explain(tables: Tables, message_id: str, only: str | None = None) -> dict:
    """Collect the rows about a pzp message.

    Args:
        tables: The warehouse's tables.
        message_id: The id of a row of `pzp_messages`.
        only: Keep only sets whose id begins with this text.

    Returns:
        The answer for `write` and for `--json`. `is_well` is true if the message is usable and valid in all its sets.
    """
    (message,) = tables.rows_of("pzp_messages", _COLUMNS, "message_id", message_id)[:1] or [{}]
    rows = sorted(tables.rows_of("set_messages", _IN_SET, "message_id", message_id), key=lambda row: row["set_id"])
    sets = [
        _explain_set(tables, row)
        for row in rows[:_MOST]
        if only is None or row["set_id"].startswith(candidate_texts(only))
    ]
    code = message.get("reject_reason")
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
        "in_no_set": _explain_no_set(tables, message) if not rows else None,
        "awaited_by": awaited_by(tables, message_id),
        "unknown": sorted({"set_messages"} & tables.missing),
        "is_well": bool(message.get("is_usable"))
        and "set_messages" not in tables.missing
        and all(row["is_valid"] for row in sets),
    }


def awaited_by(tables: Tables, message_id: str) -> list[str]:
    """List the messages that await an account message before their key can be checked; at most 100."""
    rows = tables.rows(
        f"""select message_id from {{pzp_messages}} where list_contains(awaited_ids, $id)
        order by message_id limit {_MOST}""",
        id=message_id,
    )
    return [row["message_id"] for row in rows]


def _explain_no_set(tables: Tables, message: dict) -> dict:
    """Return the reason why a message is outside all sets, and whether its data has the form of a set's anyway."""
    (data,) = tables.rows_of(
        "int_pzp_messages",
        "add is not null as has_items, coalesce(len(tangles), 0) as tangle_count",
        "message_id",
        message.get("message_id", ""),
    )[:1] or [{"has_items": False, "tangle_count": 1}]
    if message.get("account") == "self":
        reason = "account_message"
    elif not (message.get("domain") or "").startswith(_SET_DOMAIN):
        reason = "no_set_domain"
    else:
        reason = "no_set_root" if data["tangle_count"] else "no_tangle"
    return {"reason": reason, "meaning": messages.IN_NO_SET[reason], "has_items": data["has_items"]}


def _explain_set(tables: Tables, row: dict) -> dict:
    where = {"set": row["set_id"], "id": row["message_id"]}
    links = tables.rows(
        f"""select message_id, other_id, kind, is_known from {{set_links}}
        where set_id = $set and (message_id = $id or other_id = $id) order by all limit {2 * _MOST}""",
        **where,
    )
    code = row["reject_reason"]
    answer = {
        **row,
        "meaning": messages.pzp(code) if code else None,
        "follows": [link for link in links if link["message_id"] == row["message_id"]],
        "followed_by": [link for link in links if link["message_id"] != row["message_id"]],
        "faults": tables.rows(
            """select rule, item, left_out_ids from {set_writer_faults}
            where set_id = $set and message_id = $id order by all""",
            **where,
        ),
        "causes": _explain_causes(tables, row) if code in _INHERITED else [],
        "next": None,
    }
    if not row["is_valid"]:
        answer["next"] = tables.row(
            "select depth, prev, should_supersede from {set_next} where set_id = $set", set=row["set_id"]
        )
    return answer


def _explain_causes(tables: Tables, row: dict) -> list[dict]:
    """Search along `prev`, then along awaited account messages, for the missing or invalid messages at the ends."""
    rows = tables.rows(
        f"""select message_id, reject_reason, awaited_ids from {{set_messages}}
        where set_id = $set and not is_valid and not is_held order by message_id limit {MOST_LINKS}""",
        set=row["set_id"],
    )
    bad = {each["message_id"]: each["reject_reason"] for each in [*rows, row]}
    awaits = {each["message_id"]: each["awaited_ids"] for each in [*rows, row] if each["awaited_ids"]}
    links = [(id_, other) for id_, ids in awaits.items() for other in ids]
    links += [
        (link["message_id"], link["other_id"])
        for link in tables.rows(
            f"""select message_id, unnest(prev) as other_id from {{int_set_entries}}
            where set_id = $set and message_id in (select unnest($ids)) order by all limit {MOST_LINKS}""",
            set=row["set_id"],
            ids=list(bad.keys() - awaits.keys()),
        )
    ]
    named = list({other for _, other in links})
    known = {
        each["message_id"]
        for each in tables.rows(
            "select message_id from {set_messages} where set_id = $set and message_id in (select unnest($ids))",
            set=row["set_id"],
            ids=named,
        )
    }
    through = {id_ for id_, reason in bad.items() if reason in _INHERITED}
    paths = find_root_causes(links, through, (set(named) - known) | (bad.keys() - through), row["message_id"])
    elsewhere = _in_log(tables, sorted(paths.keys() - bad.keys()))
    return [{"id": end, "path": paths[end], **_trouble(bad.get(end), elsewhere.get(end))} for end in sorted(paths)]


def _in_log(tables: Tables, ids: list[str]) -> dict[str, dict]:
    """Return those of some ids that are in the log, by id."""
    return {
        row["message_id"]: row
        for row in tables.rows(
            """select message_id, has_data, reject_reason from {pzp_messages}
            where message_id in (select unnest($ids)) order by message_id""",
            ids=ids,
        )
    }


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


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    message = answer["message"]
    page.line((answer["id"], ID))
    page.line(f"pzp message of account {message.get('account')}, domain {message.get('domain')}", indent=1)
    if answer["rule"]:
        page.line(("not verified", BAD), f": {answer['rule']}. {answer['meaning']}", indent=1)
    elif message.get("is_moot"):
        page.line(("verified", GOOD), ": the root of a feed; its account and domain alone determine its id", indent=1)
    elif message.get("is_signature_valid") is None:
        page.line(("accepted unchecked", STRONG), ": the build did not check signatures", indent=1)
    else:
        page.line(("verified", GOOD), ": well-formed and signed by its key; its id matches its text", indent=1)
    for claim in answer["claimed_by"]:
        page.line(f"also, {claim['words']}", indent=2)
    if message.get("is_id_consistent") is False:
        page.line("a line of the log states another id for it; that id is ignored", indent=2)
        page.ids("the stated id:", [message["claimed_id"]] if message["claimed_id"] else [], indent=3)
    _write_key(page, message)
    if message.get("has_data") is False:
        page.line("its data is not in the log", indent=2)
    if answer["unknown"]:
        page.line(("sets: unknown, because the table set_messages is not built", DIM), indent=1)
    elif answer["in_no_set"]:
        page.line(f"sets: it is in none, because {answer['in_no_set']['meaning']}", indent=1)
        if answer["in_no_set"]["has_items"]:
            page.line("its data adds and deletes items as in a set; peers ignore them outside a set", indent=2)
    elif not answer["sets"]:
        page.line(f"sets: it is in none that {answer['only']} names", indent=1)
    page.ids("messages that await it or its data before their keys can be checked:", answer["awaited_by"], indent=1)
    for row in answer["sets"]:
        _write_set(page, answer["id"], row)


def _write_key(page: Page, message: dict) -> None:
    """Print whether the key belongs to the account, unless it does."""
    if message.get("is_key_authorised") is False:
        page.line("its key did not belong to the account at the account tips that it names", indent=2)
    elif message.get("awaited_ids"):
        page.ids("unknown whether its key belongs to the account; that depends on", message["awaited_ids"], indent=2)
    elif (
        message.get("is_usable")
        and message.get("is_key_authorised") is None
        and not message.get("is_moot")
        and message.get("account") not in _OWN_ACCOUNTS
    ):
        page.line(
            "unknown whether its key belongs to the account: the account's root is not in the log, so the key was not "
            "checked",
            indent=2,
        )


def _write_set(page: Page, message_id: str, row: dict) -> None:
    name = ["set ", (row["set_id"], ID)] if row["set_id"] != message_id else ["set of which it is the root"]
    if row["is_valid"]:
        place = [f"depth {row['depth']}, position {row['position']}"]
        place += [mark for mark in ("root", "tip") if row[f"is_{mark}"]] + ["item root"] * bool(row["is_item_root"])
        page.line(*name, ": ", ("valid", GOOD), f", {', '.join(place)}; {row['purpose']}, {row['action']}", indent=1)
    else:
        verdict = "held although not valid" if row["is_held"] else "not valid"
        verdict = "undecided" if row["reject_reason"] in messages.UNDECIDED else verdict
        page.line(*name, ": ", (verdict, BAD), f": {row['reject_reason']}. {row['meaning']}", indent=1)
    write_links(page, "follows", "other_id", row["follows"], "set")
    write_links(page, "followed by", "message_id", row["followed_by"], "set")
    for fault in row["faults"]:
        page.ids(f"its writer's fault: {fault['rule']} {fault['item'] or ''}:", fault["left_out_ids"], indent=2)
    write_causes(page, row["causes"])
    if not row["is_valid"]:
        _write_again(page, row)


def _write_again(page: Page, row: dict) -> None:
    if row["reject_reason"] in messages.UNDECIDED:
        page.line("what to do: get these messages from a peer; this message need not be published again", indent=2)
        return
    if row["causes"] and all(cause["trouble"] == "missing" for cause in row["causes"]):
        page.line("what to do: get the missing messages from a peer", indent=2)
    if row["next"] is None:
        page.line("it cannot be published again: the set has no valid root", indent=2)
        return
    page.ids(f"to publish it again, use depth {row['next']['depth']} and prev", row["next"]["prev"], indent=2)
    page.ids("and, if it adds items, supersede", row["next"]["should_supersede"], indent=2)
