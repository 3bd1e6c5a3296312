"""The meanings of reason codes by log, from the table in `dbt_tangles.reasons`."""

from collections.abc import Callable

from dbt_tangles.reasons import FileFault, PzpReason, meanings

FILES = {reason.value: reason.description for reason in FileFault}
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


def meaning_in(*columns: str) -> Callable[[str], str]:
    """Return the function from a code to its meaning in the first of some columns that has it, or the empty text."""
    found = {code: meaning for column in reversed(columns) for code, meaning in meanings(column).items()}
    return lambda code: found.get(code, "")


ssb = meaning_in("ssb_rejects.reason")
pzp = meaning_in("pzp_rejects.reason", "set_messages.reject_reason")
feed = meaning_in("feed_messages.reason")
tangle = meaning_in("tangle_messages.set_aside_reason")
group = meaning_in("group_messages.set_aside_reason")
record = meaning_in("records.left_out")
autobase = meaning_in("autobase_rejects.reason")
event = meaning_in("timeline_rejects.reason")
