"""The table of reasons: each code that tells why a line, message or node was rejected or set aside, with its meaning.

An example and a remedy of each code are in `reasons.yml` beside this file.

CONTRIBUTING.md lists the steps to add a reason. `tangles` prints the meanings of this table. Tests compare it with
`reasons.yml`, and with the accepted values of the models' columns.
"""

import enum
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Reasons")


class Reasons(str, enum.Enum):
    """Base of enumerations of reasons: a member's value is its code in the tables.

    Attributes:
        description: The meaning of the code, a sentence.
        rank: The member's position in its enumeration, from 1. If several reasons apply, the first counts.
    """

    description: str
    rank: int

    def __new__(cls: type[Self], code: str, description: str) -> Self:
        """Create a member from its code and description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        member.rank = len(cls.__members__) + 1
        return member


class SsbReason(Reasons):
    """Reasons why a line contains no usable message. The value is the code in the tables."""

    INVALID_UTF8 = "invalid_utf8", "The line is not UTF-8."
    MALFORMED_JSON = "malformed_json", "The line is not JSON, as JavaScript's JSON.parse judges it."
    NOT_A_MESSAGE = "not_a_message", "The line is JSON without a message in it: a bare key, a live marker, ..."
    OTHER_FORMAT = "other_format", "The author belongs to another feed format, so the classic rules do not apply."
    ORDER_LOST = (
        "order_lost",
        "The seven fields are in alphabetical order: the export lost the signed order, nothing can be verified.",
    )
    MISSING_FIELD = "missing_field", "One of the seven fields of a message is missing."
    EXTRA_FIELD = "extra_field", "The message has a field besides the seven."
    BAD_ORDER = "bad_order", "The seven fields are in neither of the two legal orders."
    BAD_AUTHOR = "bad_author", "The author is not a classic feed id (@<32 bytes>.ed25519)."
    BAD_SEQUENCE = "bad_sequence", "The sequence is not a whole number of 32 bits."
    BAD_TIMESTAMP = "bad_timestamp", "The timestamp is not a number."
    BAD_HASH = "bad_hash", "The hash field is not the string sha256."
    BAD_CONTENT = "bad_content", "The content is neither an object nor an encrypted string (<base64>.box...)."
    BAD_TYPE = "bad_type", "The content's type is not a string of 3 to 52 UTF-16 units."
    BAD_SIGNATURE_FORM = "bad_signature_form", "The signature is not of the form <64 bytes>.sig.ed25519."
    TOO_LONG = (
        "too_long",
        "The canonical text has more than 8,192 UTF-16 units, or the line is longer than lines may be.",
    )
    BAD_SIGNATURE = "bad_signature", "The author did not sign this text (with this network key)."


class SsbLogReason(Reasons):
    """Reasons of `ssb_rejects` that depend on other lines of the log; models/marts/ssb/ssb_rejects.sql sets them."""

    ID_COLLISION = "id_collision", "The signature is valid, but the tables keep another text with the same id."


class GroupReason(Reasons):
    """Reasons why a content of a group type is invalid. The value is the code in the tables.

    The members stand in the order of the checks, for every kind: if several apply, the first counts (`rank`).
    """

    BAD_VERSION = "bad_version", "version is not v2 (inits and adds)."
    BAD_SECRET = "bad_secret", "secret is not the canonical base64 of 32 bytes (inits and adds)."
    UNKNOWN_KEY = "unknown_key", "The content has a key that its kind does not have."
    BAD_OLD_SECRETS = "bad_old_secrets", "oldSecrets is no array, or its first entry is no secret (adds)."
    BAD_ROOT = "bad_root", "root is not the URI of a classic message (adds)."
    BAD_CREATOR = "bad_creator", "creator is not the URI of a bendy butt feed (adds)."
    BAD_TEXT = "bad_text", "text is there and is not a string (adds)."
    BAD_EXCLUDES = "bad_excludes", "excludes is no array, or its first entry is not the URI of a bendy butt feed."
    BAD_RECPS_COUNT = (
        "bad_recps_count",
        "recps is not an array of 2 (epoch inits), 2 to 16 (adds) or 1 (excludes).",
    )
    BAD_RECPS = "bad_recps", "The first entry of recps is not a group's URI, or another entry is not a feed's URI."
    BAD_TANGLES = "bad_tangles", "tangles is no object, or lacks a tangle that the kind of message belongs to."
    UNKNOWN_TANGLE = "unknown_tangle", "tangles names another tangle (inits and excludes; adds may)."
    BAD_GROUP_TANGLE = (
        "bad_group_tangle",
        "The group tangle does not give its root and its first previous as URIs; in a root init, both must be null.",
    )
    BAD_EPOCH_TANGLE = (
        "bad_epoch_tangle",
        "The epoch tangle does not give its root and its first previous as URIs; in a root init, both must be null.",
    )
    BAD_MEMBERS_TANGLE = (
        "bad_members_tangle",
        "The members tangle does not give its root and its first previous as URIs; in an init, both must be null.",
    )


class GroupLogReason(Reasons):
    """Reasons that depend on other messages of the group; models/marts/groups/group_messages.sql sets them."""

    NO_AUTHORITY = (
        "no_authority",
        "The author was no member of the epoch at that time (only with `group_authority: true`).",
    )
    UNCONNECTED_EPOCH = (
        "unconnected_epoch",
        "The init is valid, but no chain of valid inits connects it to the group's root init.",
    )
    UNKNOWN_EPOCH = (
        "unknown_epoch",
        "The add or exclude is valid, but its members tangle does not name an epoch of a group.",
    )


class PzpReason(Reasons):
    """Reasons why a line or a message of a feed tangle is rejected. The value is the code in the tables.

    The members stand in the order of the peer's checks: if several apply, the first counts (`rank`).
    """

    TOO_LONG = "too_long", "The line is longer than lines may be."
    INVALID_UTF8 = "invalid_utf8", "The line is not UTF-8."
    MALFORMED_JSON = "malformed_json", "The line is not JSON, as JavaScript's JSON.parse judges it."
    NOT_A_MESSAGE = "not_a_message", "The line is JSON without an object that has metadata in it."
    NO_ID = "no_id", "The metadata has no canonical text (an infinite number, a lone surrogate), hence no id."
    OTHER_FORMAT = (
        "other_format",
        "The message has `type` or `content`, as in the protocol document: peers take only `domain` and `data`.",
    )
    MISSING_FIELD = "missing_field", "The data or a field of the metadata is missing."
    WRONG_VERSION = "wrong_version", "metadata.v is not 4."
    MISSING_SIGNATURE = "missing_signature", "sig is not a string."
    BAD_SIGKEY = "bad_sigkey", "sigkey is not base58 of 32 bytes."
    BAD_DATA = "bad_data", "The data is neither null nor an object nor a string."
    MISSING_ROOT = "missing_root", "The tangle's root is not in the log, or is not usable."
    NOT_A_FEED = "not_a_feed", "The tangle's root is not a moot."
    BAD_DATA_SIZE = "bad_data_size", "dataSize is not a whole number from 0."
    DATA_HASH_MISMATCH = "data_hash_mismatch", "dataHash is not the hash of the data."
    DATA_SIZE_MISMATCH = "data_size_mismatch", "dataSize is not the size of the data."
    BAD_DOMAIN = "bad_domain", "The domain is not 3 to 100 characters of A-Z, a-z, 0-9 and _."
    ACCOUNT_SELF = "account_self", "A message of an account tangle cannot be in a feed tangle."
    BAD_ACCOUNT = "bad_account", "The account is not a string, or the message of an account tangle has accountTips."
    UNAUTHORISED_KEY = "unauthorised_key", "sigkey was not a key of the account."
    NO_TANGLE = "no_tangle", "The message is in no tangle."
    BAD_PREV = "bad_prev", "prev is not an array."
    BAD_DEPTH = "bad_depth", "depth is not a whole number from 1 to 2^53 - 1."
    OTHER_DOMAIN = "other_domain", "The domain is not that of the tangle's moot."
    OTHER_ACCOUNT = "other_account", "The account is not that of the tangle's moot."
    PREV_NOT_LOWER = "prev_not_lower", "The depth of a known message in prev is not lower than that of this message."
    PREV_NOT_STRING = "prev_not_string", "An entry of prev is not a string."
    PREV_URI = "prev_uri", "An entry of prev is a URI."
    PREV_DUPLICATE = "prev_duplicate", "prev has an entry twice."
    PREV_UNSORTED = "prev_unsorted", "prev is not sorted by code unit."
    NO_KNOWN_PREV = "no_known_prev", "Nothing in prev is a valid message of the tangle."
    DEPTH_GAP = (
        "depth_gap",
        "All messages in prev are known, and depth is not one more than the greatest depth among them.",
    )
    CYCLE = (
        "cycle",
        "The message follows itself, or a message that follows itself. This cannot happen with real ids.",
    )
    BAD_SIGNATURE = "bad_signature", "sigkey did not sign the metadata."
    # Known reasons come first; the last two mean that the log leaves the question open.
    UNKNOWN_ACCOUNT_TIPS = (
        "unknown_account_tips",
        "The log lacks messages of the account, or their data, that decide whether the key may sign: it may be good.",
    )
    UNDECIDED_PREV = (
        "undecided_prev",
        "No message in prev is known to be valid, and one of them is undecided: the log lacks messages of its account.",
    )


class SetReason(Reasons):
    """Reasons why a set does not read a message that its feed tangle accepts; algorithms/set sets them."""

    BAD_SET_DATA = (
        "bad_set_data",
        "Peers accept the message, but its data is not an object with arrays add, del and supersedes: no item changes.",
    )


class AutobaseReason(Reasons):
    """Reasons why a line is neither a base nor a node. The value is the code in the tables.

    If several apply, the first counts.
    """

    TOO_LONG = "too_long", "The line is longer than lines may be."
    INVALID_UTF8 = "invalid_utf8", "The line is not UTF-8."
    MALFORMED_JSON = "malformed_json", "The line is not JSON, as JavaScript's JSON.parse judges it."
    NOT_AN_OBJECT = "not_an_object", "The line is JSON, and not an object."
    NO_BASE = "no_base", "The base is not a non-empty string of Unicode characters."
    NEITHER = "neither", "The line is neither a base (indexers) nor a node (writer, length, heads)."
    BAD_INDEXERS = "bad_indexers", "The indexers are not a list of writers (64 hex digits each)."
    BAD_RELAYED = "bad_relayed", "relayed is not a list of writers (64 hex digits each)."
    BAD_ROLES = "bad_roles", "A writer is both an indexer and relayed."
    BAD_START = "bad_start", "start does not map distinct writers to whole numbers from 0 to 2^31 - 1."
    BAD_WRITER = "bad_writer", "The writer is not 64 hex digits."
    BAD_LENGTH = "bad_length", "The length is not a whole number from 1 to 2^31 - 1."
    BAD_HEADS = (
        "bad_heads",
        "The heads are not a list of distinct writers with a length each, or one is the node itself or a later one.",
    )
    BAD_BATCH = "bad_batch", "The batch is not a whole number from 1 to 2^31 - 1."


class AutobaseLogReason(Reasons):
    """Reasons that depend on other lines of the log; models/intermediate/autobase sets them."""

    UNKNOWN_BASE = "unknown_base", "No line names the writers of the base."
    CONFLICTING_BASE = "conflicting_base", "Another line defines the base differently and takes precedence."
    BEFORE_START = "before_start", "The node was confirmed before the start of this log."
    EQUIVOCATION = "equivocation", "Another node has the same writer and length."
    HOLE = "hole", "The node before it in its writer's log is missing."
    BAD_BATCH = "bad_batch", "It does not continue its writer's batch, or it follows a node inside a batch."
    UNKNOWN_WRITER = "unknown_writer", "A head names a writer without any node."
    MISSING_HEAD = "missing_head", "A head is missing."
    CYCLE = "cycle", "The node follows itself."
    PREVIOUS_SET_ASIDE = "previous_set_aside", "A node that it follows is rejected."


class EventReason(Reasons):
    """Reasons why a line gave no event; formats/events and models/**/timelines set them."""

    MALFORMED = "malformed", "The line is not an event: it is not JSON, or a field is missing or of the wrong type."
    TIMELINE_TAKEN = (
        "timeline_taken",
        "The timeline belongs to the SSB log or to one of its tangles; only messages may be in it.",
    )
    TIMELINE_TOO_LARGE = (
        "timeline_too_large",
        "The timeline has more arrivals than `graph_limit` allows; all of them are rejected.",
    )
    TOO_MANY_PREVIOUS = "too_many_previous", "The event has more distinct causes than `max_previous` allows."
    CONFLICT = "conflict", "Another line gives the event other causes or another author; none of these lines counts."
    DUPLICATE = "duplicate", "The event arrived before; only its first arrival counts."
    CYCLE = "cycle", "One of its causes follows the event, so the event would follow itself."


class TangleReason(Reasons):
    """Reasons why a message is not a member of a tangle; int_tangle_claims and algorithms/graph set them."""

    MALFORMED_TANGLE = (
        "malformed_tangle",
        "Its claim is malformed: tangles, root or previous has a wrong form, or names an id that no message can have.",
    )
    WRONG_TYPE = "wrong_type", "This tangle does not take messages of its content type."
    NOT_A_WRITER = "not_a_writer", "The type and the root of this tangle do not let its author write."
    MISSING_ROOT = (
        "missing_root",
        "The root that it names is not in the log, is sealed (encrypted) in this export, or is not usable.",
    )
    EMPTY_PREVIOUS = "empty_previous", "It names a root, but its previous is empty."
    MISSING_PREVIOUS = (
        "missing_previous",
        "A message in its previous is not in the log, is sealed (encrypted) in this export, or does not claim to "
        "belong to this tangle.",
    )
    CYCLE = "cycle", "It follows itself."
    PREVIOUS_SET_ASIDE = "previous_set_aside", "A message that it follows is set aside."
    TANGLE_TOO_LARGE = (
        "tangle_too_large",
        "The tangle has more candidates than `graph_limit` allows; all of them are set aside.",
    )


class RecordReason(Reasons):
    """Reasons why a member of a tangle does not count in its record; algorithms/record sets them."""

    MALFORMED_FIELD = "malformed_field", "A field of the message is no transformation of its strategy."
    UNRESOLVED_MERGE = (
        "unresolved_merge",
        "The message merges branches that set different values of a field, and does not set the field itself.",
    )
    FOLLOWS_LEFT_OUT = "follows_left_out", "It follows a message that does not count."


class FeedReason(Reasons):
    """Reasons why a message is not in the chain of its feed; models/marts/feeds/feed_messages.sql sets them."""

    FORKED = "forked", "Several messages of the author follow the chain at this sequence: the feed is forked."
    BAD_LINK = "bad_link", "It is the next message after the end of the chain, but its previous is another message."
    OFF_CHAIN = "off_chain", "Another message of the author with the same sequence is in the chain."
    AFTER_GAP = "after_gap", "It comes after a missing sequence."
    AFTER_FORKED = "after_forked", "It comes after a fork."
    AFTER_BAD_LINK = "after_bad_link", "It comes after a message that does not follow the chain."


class Framing(Reasons):
    """Why a line is not one message. The value is the code in the tables."""

    UTF16 = "utf16", "The file is text in UTF-16, and logs are UTF-8."
    BINARY_LOG = "binary_log", "The line is of a binary file, such as a database's log.offset, and not of a text."
    CR_LINE_ENDS = "cr_line_ends", "The file's lines end in carriage returns (CR) alone, so that all are one line."
    SEVERAL_MESSAGES = "several_messages", "More than one JSON object stands in the line."
    JSON_ARRAY = "json_array", "The line is a JSON array of objects, and not one object."


class FileFault(Reasons):
    """Reasons why a file was not read completely; the reader of log files, `dbt_tangles.ingest`, sets them."""

    TRUNCATED_FILE = "truncated_file", "The compressed file ends early. What is there is read."
    TRAILING_GARBAGE = (
        "trailing_garbage",
        "Something else follows the compressed data. The data are read, the rest is not.",
    )
    CORRUPT_FILE = (
        "corrupt_file",
        "The compressed data, or their checksum, are wrong from some place on. What is before is read.",
    )
    NOT_COMPRESSED = "not_compressed", "The file is not compressed as its name says. Nothing of it is read."
    UNSUPPORTED_COMPRESSION = (
        "unsupported_compression",
        "The file is compressed, by its name or its header, in a way that is not read.",
    )
    DANGLING_LINK = "dangling_link", "The link leads nowhere."
    NOT_A_FILE = (
        "not_a_file",
        "The name belongs to a pipe, a socket or a device, or to a link to one. It is not opened.",
    )
    OVER_UNPACK_LIMIT = (
        "over_unpack_limit",
        "The compressed file unpacks to more than `unpack_limit` times its size. It is read up to there.",
    )


#: Column of reasons: the enumerations of its codes.
COLUMNS: dict[str, tuple[type[Reasons], ...]] = {
    "ssb_rejects.reason": (SsbReason, SsbLogReason, Framing, FileFault),
    "ssb_messages.check_error": (SsbReason,),
    "group_messages.set_aside_reason": (GroupReason, GroupLogReason),
    "pzp_rejects.reason": (PzpReason, Framing, FileFault),
    "pzp_messages.reject_reason": (PzpReason,),
    "set_messages.reject_reason": (PzpReason, SetReason),
    "autobase_rejects.reason": (AutobaseLogReason, AutobaseReason, Framing, FileFault),
    "timeline_rejects.reason": (EventReason, FileFault),
    "tangle_messages.set_aside_reason": (TangleReason,),
    "records.left_out": (RecordReason,),
    "feed_messages.reason": (FeedReason,),
}


def reasons_of(column: str) -> dict[str, Reasons]:
    """Return the reason behind each code of a column, such as `feed_messages.reason`."""
    found: dict[str, Reasons] = {}
    for enumeration in COLUMNS[column]:
        for reason in enumeration:
            found.setdefault(reason.value, reason)
    return found


def meanings(column: str) -> dict[str, str]:
    """Return the meaning of each code of a column."""
    return {code: reason.description for code, reason in reasons_of(column).items()}


#: Section of `reasons.yml`: the enumerations of its codes.
SECTIONS: dict[str, tuple[type[Reasons], ...]] = {
    "ssb": (SsbReason, SsbLogReason),
    "group": (GroupReason, GroupLogReason),
    "pzp": (PzpReason, SetReason),
    "autobase": (AutobaseReason,),
    "derived": (AutobaseLogReason,),
    "event": (EventReason,),
    "file": (FileFault,),
    "any": (Framing,),
    "tangle": (TangleReason,),
    "record": (RecordReason,),
    "feed": (FeedReason,),
}


def read_notes() -> dict[str, dict[str, Any]]:
    """Return the sections of `reasons.yml`: `heading`, `text` and `reasons`, with an example and a remedy by code."""
    import yaml  # the workers of a cluster read only the codes, and may lack it

    return yaml.safe_load(files(__package__).joinpath("reasons.yml").read_text())


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield for each column of reasons and each of its codes: column, code, meaning, remedy."""
    notes = read_notes()
    section_of = {enumeration: section for section, group in SECTIONS.items() for enumeration in group}
    for column in COLUMNS:
        for code, reason in reasons_of(column).items():
            _, remedy = notes[section_of[type(reason)]]["reasons"][code]
            yield column, code, reason.description, remedy
