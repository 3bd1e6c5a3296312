"""An SSB message: its signature, its place in its feed, its tangles and its private group."""

from datetime import datetime, timezone

from dbt_tangles.cli import messages
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections
from dbt_tangles.why.claims import claims_of
from dbt_tangles.why.feed import explain_place
from dbt_tangles.why.tangle import awaiting, explain_tangles

_SQL = sections(__file__)


def explain(tables: Tables, message_id: str, only: str | None = None) -> dict:
    """Collect the rows about a message of `ssb_messages`; of its tangles only those that `only` names.

    `is_well` is true if the message is verified, in its feed's chain, and a member of every tangle that it claims.
    """
    message = tables.row(_SQL["message"], id=message_id)
    if message is None:  # A build replaced the table after the id was found.
        return {"kind": "message", "id": message_id, "is_verified": None, "is_well": False}
    error, is_usable = message["check_error"], bool(message["is_usable"])
    is_of_group = is_usable and (message["content_type"] or "").startswith("group/")
    answer = {
        "kind": "message",
        "id": message_id,
        "only": only,
        "is_verified": is_usable,
        "rule": error,
        "meaning": messages.ssb(error) if error else None,
        "message": message,
        "feed": explain_place(tables, message),
        "tangles": explain_tangles(tables, message_id, only) if is_usable else [],
        "group": _explain_group(tables, message_id) if is_of_group else None,
        "authority": [],
    }
    if is_of_group or any(tangle["tangle_name"] == "group" for tangle in answer["tangles"]):
        answer["authority"] = tables.rows(_SQL["authority"], id=message_id)
    # A missing table proves neither that its rows are absent nor that the message is well.
    answer["unknown"] = sorted({"feeds", "tangle_messages"} & tables.missing)
    answer["is_well"] = not answer["unknown"] and _is_well(answer)
    answer["claimed_by"] = claims_of(tables, [message_id], ["message"]).get(message_id, [])
    answer["awaited_by"] = [] if is_usable and not is_sealed(message) else awaiting(tables, message_id)
    return answer


def is_sealed(message: dict) -> bool:
    """Whether a row of `ssb_messages` is usable and encrypted, so that its claims are unknown."""
    return bool(message["is_usable"] and message["is_encrypted"] and not message["is_decrypted"])


def _explain_group(tables: Tables, message_id: str) -> dict | None:
    """Collect the row of a message in its private group, and the findings that name it.

    For a message that is set aside or not connected, `next` says how to publish it again: an init on top of its
    previous epochs, an addition or exclusion in its own epoch.
    """
    row = tables.row(_SQL["group"], id=message_id)
    if row is None:
        return None
    reason, is_init = row["set_aside_reason"], row["kind"] == "epoch_init"
    answer = {**row, "meaning": messages.group(reason) if reason else None}
    answer |= {"findings": tables.rows(_SQL["group_findings"], id=message_id), "next": []}
    if reason or row["is_connected"] is False:
        epochs = (row["previous_epochs"] or []) if is_init else [row["epoch_id"]]
        answer["next"] = tables.rows(
            _SQL["group_next"], kind="init" if is_init else row["kind"], epochs=[id_ for id_ in epochs if id_]
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


def time_of(milliseconds: float | None) -> str:
    """Write the time that an author asserts, in milliseconds since 1970; it may be any number."""
    if milliseconds is None:
        return ""
    try:
        return f", dated {datetime.fromtimestamp(milliseconds / 1000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f", dated {milliseconds} ms"
