"""The meaning of each reason code in the tables, a sentence each. Modules of formats are imported only when needed."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_tangles.reasons import Reasons

#: `tangle_messages.set_aside_reason`
SET_ASIDE = {
    "malformed_tangle": "Its claim is malformed: the root, previous or the tangle's name has a wrong form.",
    "wrong_type": "This tangle does not take messages of its content type.",
    "missing_root": "The root that it names is not in the log, or is not usable.",
    "empty_previous": "It names a root, but its previous is empty.",
    "missing_previous": "A message in its previous is not a candidate of this tangle.",
    "cycle": "It follows itself.",
    "previous_set_aside": "A message that it follows is set aside.",
    "tangle_too_large": "The tangle has more candidates than `graph_limit` allows; all of them are set aside.",
}
#: `feed_messages.reason`
OFF_CHAIN = {
    "forked": "Several messages of the author follow the chain at this sequence: the feed is forked.",
    "bad_link": "It is the next message after the end of the chain, but its previous is another message.",
    "off_chain": "Another message of the author with the same sequence is in the chain.",
    "after_gap": "It comes after a missing sequence.",
    "after_forked": "It comes after a fork.",
    "after_bad_link": "It comes after a message that does not follow the chain.",
}
#: `set_messages.reject_reason` of messages that may prove valid once the log has more messages of their account
UNDECIDED = frozenset(("unknown_account_tips", "undecided_prev"))
#: Why a pzp message is outside all sets
IN_NO_SET = {
    "account_message": "it is a message of an account, and those are in no set",
    "no_tangle": "it names no tangle",
    "no_set_domain": "its domain does not begin with set_v1__, so the tangle that it names is not a set",
    "no_set_root": "it does not name the root of a set",
}
#: `autobase_rejects.reason`, as other lines of the log show
NOT_IN_BASE = {
    "unknown_base": "No line names the writers of the base.",
    "conflicting_base": "Another line defines the base differently and takes precedence.",
    "before_start": "The node was confirmed before the start of this log.",
    "equivocation": "Another node has the same writer and length.",
    "hole": "The node before it in its writer's log is missing.",
    "bad_batch": "It does not continue its writer's batch, or it follows a node inside a batch.",
    "unknown_writer": "A head names a writer without any node.",
    "missing_head": "A head is missing.",
    "cycle": "The node follows itself.",
    "previous_set_aside": "A node that it follows is rejected.",
}
#: `group_messages.set_aside_reason`, as the whole group shows
NOT_IN_GROUP = {
    "unconnected_epoch": "A valid init that valid inits do not connect to the group's root init.",
    "unknown_epoch": "A valid add or exclude whose members tangle does not name an epoch of a group.",
}
#: `timeline_rejects.reason`
NO_EVENT = {
    "malformed": "The line is not an event: it is not JSON, or a field is missing or of the wrong type.",
    "timeline_taken": "The timeline belongs to the SSB log or to one of its tangles; only messages may be in it.",
    "timeline_too_large": "The timeline has more arrivals than `graph_limit` allows; all of them are rejected.",
    "too_many_previous": "The event has more distinct causes than `max_previous` allows.",
    "duplicate": "The event arrived before; only its first arrival counts.",
    "cycle": "One of its causes follows the event, so the event would follow itself.",
}
#: Rejects of files; codes of `dbt_spark_python.unpack.FAULTS`, which takes long to import.
FILES = {
    "truncated_file": "The compressed file ends early. What is there is read.",
    "trailing_garbage": "Something else follows the compressed data. The data are read, the rest is not.",
    "corrupt_file": "The compressed data, or their checksum, are wrong from some place on. What is before is read.",
    "not_compressed": "The file is not compressed as its name says. Nothing of it is read.",
    "unsupported_compression": "The file is compressed, by its name, in a way that is not read.",
    "dangling_link": "The link leads nowhere.",
    "over_unpack_limit": (
        "The compressed file unpacks to more than `unpack_limit` times its size. It is read up to there."
    ),
}
_COLLISION = "The signature is valid, but another text with the same id is the message."


def ssb(code: str) -> str:
    """Return the meaning of a reason of `ssb_rejects`."""
    from dbt_tangles.formats.ssb.classic import Reason

    return _COLLISION if code == "id_collision" else _described(Reason, code)


def pzp(code: str) -> str:
    """Return the meaning of a reason of pzp messages."""
    from dbt_tangles.formats.pzp.rules import Reason

    return _described(Reason, code)


def group(code: str) -> str:
    """Return the meaning of a reason of `group_messages`."""
    if code in NOT_IN_GROUP:
        return NOT_IN_GROUP[code]
    from dbt_tangles.formats.ssb.group_claims import GroupReason

    return _described(GroupReason, code)


def autobase(code: str) -> str:
    """Return the meaning of a reason of `autobase_rejects`."""
    if code in NOT_IN_BASE:
        return NOT_IN_BASE[code]
    from dbt_tangles.formats.autobase.verify_lines import Reason

    return _described(Reason, code)


def event(code: str) -> str:
    """Return the meaning of a reason of `timeline_rejects`."""
    return NO_EVENT.get(code) or _described((), code)


def _described(reasons: Iterable[Reasons], code: str) -> str:
    """Look a code up among some reasons, then among the reasons of lines and files of any log."""
    from dbt_tangles.ingest.line_framing import Framing

    for reason in (*reasons, *Framing):
        if reason.value == code:
            return reason.description
    return FILES.get(code, "")
