"""`tangles why` for an SSB message: its signature, its place in its feed, its tangles and its private group."""

from datetime import datetime, timezone

from dbt_tangles.cli import messages
from dbt_tangles.cli.claims import claims_of
from dbt_tangles.cli.page import BAD, DIM, GOOD, ID, STRONG, Page, truncate
from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.why_feed import explain_feed, write_feed, write_next
from dbt_tangles.cli.why_tangle import SEALED, explain_tangles, write_tangles
from dbt_tangles.cli.why_unknown import awaiting, write_awaiting

_COLUMNS = """message_id, author, sequence, previous_id, content_type, content, asserted_ms, line_count, is_encrypted,
    is_decrypted, is_signature_valid, is_usable, is_key_consistent, claimed_key, check_error"""


def explain(tables: Tables, message_id: str, only: str | None = None) -> dict:
    """Collect the rows about a message.

    Args:
        tables: The warehouse's tables.
        message_id: The id of a row of `ssb_messages`.
        only: Keep only tangles with this name, or whose root begins with this text.

    Returns:
        The answer for `write` and for `--json`. `is_well` is true if the message is verified, in its feed's chain, and
        a member of every tangle that it claims.
    """
    rows = tables.rows_of("ssb_messages", _COLUMNS, "message_id", message_id)
    if not rows:  # A build replaced the table after the id was found.
        return {"kind": "message", "id": message_id, "is_verified": None, "is_well": False}
    message = rows[0]
    error = message["check_error"]
    answer = {
        "kind": "message",
        "id": message_id,
        "only": only,
        "is_verified": bool(message["is_usable"]),
        "rule": error,
        "meaning": messages.ssb(error) if error else None,
        "message": message,
        "feed": explain_feed(tables, message),
        "tangles": explain_tangles(tables, message_id, only) if message["is_usable"] else [],
        "group": _explain_group(tables, message_id) if _says_group(message) else None,
    }
    # A missing table proves neither that its rows are absent nor that the message is well.
    answer["unknown"] = sorted({"feeds", "tangle_messages"} & tables.missing)
    answer["is_well"] = not answer["unknown"] and _is_well(answer)
    answer["claimed_by"] = claims_of(tables, [message_id], ["message"]).get(message_id, [])
    is_shown = message["is_usable"] and not _is_sealed(message)
    answer["awaited_by"] = [] if is_shown else awaiting(tables, message_id)
    return answer


def _is_sealed(message: dict) -> bool:
    return bool(message["is_usable"] and message["is_encrypted"] and not message["is_decrypted"])


def _says_group(message: dict) -> bool:
    return bool(message["is_usable"] and (message["content_type"] or "").startswith("group/"))


def _explain_group(tables: Tables, message_id: str) -> dict | None:
    row = tables.row(
        """select kind, set_aside_reason, group_id, epoch_id, is_connected, published_in, published_in_kind,
            previous_epochs
        from {group_messages} where message_id = $id""",
        id=message_id,
    )
    if row is None:
        return None
    code = row["set_aside_reason"]
    findings = tables.rows(
        """select distinct finding, epoch_id, feed_id from {group_findings}
        where list_contains(message_ids, $id) order by all limit 100""",
        id=message_id,
    )
    answer = {**row, "meaning": messages.group(code) if code else None, "findings": findings, "next": []}
    if code or row["is_connected"] is False:
        is_init = row["kind"] == "epoch_init"
        answer["next"] = tables.rows(
            """select epoch_id, kind, tangles from {group_next}
            where kind = $kind and epoch_id in (select unnest($epochs)) order by epoch_id limit 100""",
            kind="init" if is_init else row["kind"],
            epochs=[id_ for id_ in (row["previous_epochs"] or [] if is_init else [row["epoch_id"]]) if id_],
        )
    return answer


def _is_well(answer: dict) -> bool:
    feed, group = answer["feed"], answer["group"]
    return bool(
        answer["is_verified"]
        and (feed is None or feed["in_chain"])
        and all(tangle["is_member"] and not (tangle["record"] or {}).get("left_out") for tangle in answer["tangles"])
        and (group is None or group["set_aside_reason"] is None)
    )


def write(page: Page, answer: dict) -> None:
    """Print the answer."""
    page.line((answer["id"], ID))
    if answer["is_verified"] is None:
        page.line(("a build replaced the table meanwhile; run the command again", DIM), indent=1)
        return
    message = answer["message"]
    content_type = message["content_type"] or ("encrypted" if message["is_encrypted"] else "no type")
    time = time_of(message["asserted_ms"])
    page.line(f"message {message['sequence']} of {message['author']}, {content_type}{time}", indent=1)
    page.line((truncate(message["content"] or "", 100), DIM), indent=1)
    _write_verdict(page, message, answer["meaning"])
    for claim in answer["claimed_by"]:
        page.line(f"also, {claim['words']}", indent=2)
    if "feeds" in answer["unknown"]:
        page.line(("feed: unknown, because the table feeds is not built", DIM), indent=1)
    else:
        write_feed(page, answer["feed"])
    if message["is_usable"] and "tangle_messages" in answer["unknown"]:
        page.line(("tangles: unknown, because the table tangle_messages is not built", DIM), indent=1)
    elif message["is_usable"]:
        if answer["tangles"] or not _is_sealed(message):
            write_tangles(page, answer["id"], answer["tangles"], answer["only"])
        if _is_sealed(message):
            page.line(f"the tangles that it claims are unknown: {SEALED}", indent=1)
    else:
        page.line("tangles: it belongs to none, because it is not verified", indent=1)
    write_awaiting(page, answer["awaited_by"])
    if answer["group"]:
        _write_group(page, answer["group"])
    if answer["feed"] and not answer["is_well"]:
        write_next(page, answer["feed"])


def _write_verdict(page: Page, message: dict, meaning: str | None) -> None:
    if not message["is_usable"]:
        page.line(("not verified", BAD), f": {message['check_error']}. {meaning}", indent=1)
    elif message["is_signature_valid"] is None:
        page.line(
            ("accepted unchecked", STRONG), ": the build did not check signatures (verify_signatures: false)", indent=1
        )
    else:
        page.line(("verified", GOOD), ": well-formed and signed by its author; its id matches its text", indent=1)
    if message["is_key_consistent"] is False:
        page.line("a line of the log states another id for it; that id is ignored", indent=2)
        page.ids("the stated id:", [message["claimed_key"]] if message["claimed_key"] else [], indent=3)


def time_of(milliseconds: float | None) -> str:
    """Write the time that an author asserts, in milliseconds since 1970; it may be any number."""
    if milliseconds is None:
        return ""
    try:
        return f", dated {datetime.fromtimestamp(milliseconds / 1000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f", dated {milliseconds} ms"


def _write_group(page: Page, group: dict) -> None:
    if group["set_aside_reason"]:
        page.line(
            f"group ({group['kind']}): ",
            ("not counted", BAD),
            f": {group['set_aside_reason']}. {group['meaning']}",
            indent=1,
        )
    else:
        page.line(f"group ({group['kind']}): ", ("counted by peers", GOOD), indent=1)
        page.line("group ", (group["group_id"], ID), ", epoch ", (group["epoch_id"], ID), indent=2)
    if group["is_connected"] is False:
        page.line("it is not connected: the links of its tangle do not lead from it to the root", indent=2)
    for upon in group["next"]:
        page.line(f"to publish it again, use {upon['kind']}, epoch ", (upon["epoch_id"], ID), indent=2)
        for name, place in upon["tangles"].items():
            page.ids(f"in tangle {name}, with root {place['root']} and previous", place["previous"] or [], 3, "none")
    for finding in group["findings"]:
        feed = [f" {finding['feed_id']}"] if finding["feed_id"] else []
        page.line("finding: ", (finding["finding"], STRONG), *feed, indent=2)
