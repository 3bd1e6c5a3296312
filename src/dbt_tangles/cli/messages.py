"""What the codes in the tables mean, in a sentence each. Imports are late: most answers need none of them."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_tangles.reasons import Reasons

#: `tangle_messages.set_aside_reason`
SET_ASIDE = {
    "malformed_tangle": "its claim is malformed: root, previous or the tangle's name are not what they must be",
    "wrong_type": "its content's type is none that this tangle takes",
    "missing_root": "the root that it names is not in the log, or is not usable",
    "empty_previous": "it names a root and lists nothing as previous",
    "missing_previous": "it lists a previous that is no candidate of this tangle",
    "cycle": "it follows itself",
    "previous_set_aside": "what it follows is set aside itself",
    "tangle_too_large": "its tangle has more candidates than `graph_limit` allows, and none of them was looked at",
}
#: `feed_messages.reason`
OFF_CHAIN = {
    "forked": "several messages of the author follow the chain here: the feed is forked",
    "bad_link": "it is next to the end of the chain, and names another message before it",
    "off_chain": "another message of the author has its sequence, and is in the chain",
    "after_gap": "it comes after a sequence that is missing",
    "after_forked": "it comes after a fork",
    "after_bad_link": "it comes after a message that does not follow the chain",
}
#: `set_messages.reject_reason` where the log does not decide: the message may be valid, and need not be written again
UNDECIDED = frozenset(("unknown_account_tips", "undecided_prev"))
#: Why a pzp message is in no set
IN_NO_SET = {
    "account_message": "it is a message of an account, and those are in no set",
    "no_tangle": "it names no tangle",
    "no_set_domain": "its domain does not begin with set_v1__, so the tangle that it names is no set",
    "no_set_root": "it names no root of a set",
}
#: `autobase_rejects.reason`, where the rest of the log shows it
NOT_IN_BASE = {
    "unknown_base": "No line says who writes to the base.",
    "conflicting_base": "Another line says something else about the base, and that one counts.",
    "before_start": "The node was confirmed before this log.",
    "equivocation": "There is another node of the same writer and length.",
    "hole": "The node before it in its writer's log is not there.",
    "bad_batch": "It does not go on with its writer's batch, or follows a node inside a batch.",
    "unknown_writer": "A head is of a writer of whom there is no node.",
    "missing_head": "A head is not there.",
    "cycle": "The node follows itself.",
    "previous_set_aside": "Something that it follows is not used.",
}
#: `group_messages.set_aside_reason`, where the group shows it
NOT_IN_GROUP = {
    "unconnected_epoch": "A valid init that the group's root init does not reach through valid inits.",
    "unknown_epoch": "A valid add or exclude whose members tangle names no epoch of a group.",
}
#: `timeline_rejects.reason`
NO_EVENT = {
    "malformed": "The line is no event: not JSON, or a field is missing or of the wrong kind.",
    "timeline_taken": "The timeline is that of the SSB log or of one of its tangles, which take nothing but messages.",
    "timeline_too_large": "The timeline has more arrivals than `graph_limit` allows, and none of them is ordered.",
    "too_many_previous": "The event has more distinct causes than `max_previous` allows.",
    "duplicate": "The event arrived before; the first arrival stays.",
    "cycle": "Something that follows the event is among its causes, so it would follow itself.",
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
_COLLISION = "The line is well signed, but another text with the same id is the message."


def ssb(code: str) -> str:
    """Say what a reason of `ssb_rejects` means."""
    from dbt_tangles.formats.ssb.classic import Reason

    return _COLLISION if code == "id_collision" else _described(Reason, code)


def pzp(code: str) -> str:
    """Say what a reason of pzp messages means."""
    from dbt_tangles.formats.pzp.rules import Reason

    return _described(Reason, code)


def group(code: str) -> str:
    """Say what a reason of `group_messages` means."""
    if code in NOT_IN_GROUP:
        return NOT_IN_GROUP[code]
    from dbt_tangles.formats.ssb.group_claims import GroupReason

    return _described(GroupReason, code)


def autobase(code: str) -> str:
    """Say what a reason of `autobase_rejects` means."""
    if code in NOT_IN_BASE:
        return NOT_IN_BASE[code]
    from dbt_tangles.formats.autobase.verify_lines import Reason

    return _described(Reason, code)


def event(code: str) -> str:
    """Say what a reason of `timeline_rejects` means."""
    return NO_EVENT.get(code) or _described((), code)


def _described(reasons: Iterable[Reasons], code: str) -> str:
    """Look a code up, which may be that of a file, or of a line of any log."""
    from dbt_tangles.ingest.line_framing import Framing

    for reason in (*reasons, *Framing):
        if reason.value == code:
            return reason.description
    return FILES.get(code, "")
