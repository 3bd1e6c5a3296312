"""The meanings of reason codes by log, from the table in `dbt_tangles.reasons`."""

from functools import cache

from dbt_tangles.reasons import AutobaseLogReason, EventReason, FileFault, Framing, PzpReason, Reasons, meanings


def _described(reasons: type[Reasons]) -> dict[str, str]:
    return {reason.value: reason.description for reason in reasons}


SET_ASIDE = meanings("tangle_messages.set_aside_reason")
OFF_CHAIN = meanings("feed_messages.reason")
NOT_IN_BASE = _described(AutobaseLogReason)
NO_EVENT = _described(EventReason)
FILES = _described(FileFault)
#: `set_messages.reject_reason` of messages that may prove valid once the log has more messages of their account
UNDECIDED = frozenset((PzpReason.UNKNOWN_ACCOUNT_TIPS.value, PzpReason.UNDECIDED_PREV.value))
#: Words for a message that is in the log, encrypted.
SEALED = "in this export it is sealed (encrypted), and a decrypted export settles it"
#: Why a pzp message is outside all sets
IN_NO_SET = {
    "account_message": "it is a message of an account, and those are in no set",
    "no_tangle": "it names no tangle",
    "no_set_domain": "its domain does not begin with set_v1__, so the tangle that it names is not a set",
    "no_set_root": "it does not name the root of a set",
}

_FRAMING = _described(Framing)
_meanings_of = cache(meanings)


def _meaning(column: str, code: str) -> str:
    # In `timeline_rejects` the reason of such a line is `malformed`, and the framing mistake is in the detail.
    return _meanings_of(column).get(code) or _FRAMING.get(code, "")


def ssb(code: str) -> str:
    """Return the meaning of a reason of `ssb_rejects`."""
    return _meaning("ssb_rejects.reason", code)


def pzp(code: str) -> str:
    """Return the meaning of a reason of pzp lines, and of messages in sets."""
    return _meaning("pzp_rejects.reason", code) or _meaning("set_messages.reject_reason", code)


def group(code: str) -> str:
    """Return the meaning of a reason of `group_messages`."""
    return _meaning("group_messages.set_aside_reason", code)


def record(code: str) -> str:
    """Return the meaning of a reason of `records.left_out`."""
    return _meaning("records.left_out", code)


def autobase(code: str) -> str:
    """Return the meaning of a reason of `autobase_rejects`."""
    return _meaning("autobase_rejects.reason", code)


def event(code: str) -> str:
    """Return the meaning of a reason of `timeline_rejects`."""
    return _meaning("timeline_rejects.reason", code)
