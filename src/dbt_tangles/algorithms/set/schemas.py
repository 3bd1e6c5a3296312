"""The rows that the kernel of sets reads and writes."""

from typing import NamedTuple

import pyarrow as pa

from dbt_tangles.kernel_runtime.row_schema import Int32, Int64, schema_of


class SetEntry(NamedTuple):
    """A message that names a set as its tangle, or the root of a set; unique in its set. A null list is empty."""

    set_id: str
    message_id: str
    account: str | None
    domain: str | None  # Additions and deletions count in set domains only
    is_moot: bool | None  # The root of the set. Without it, a set lacks order and items, and needs all its messages
    depth: Int64 | None  # As declared; it and `prev` are ignored for the root
    prev: list[str] | None
    defect: str | None  # The first one that depth and prev show without other messages; ignored for the root
    reject_reason: str | None  # Of the line, of several the one that passed most checks
    is_key_authorised: bool | None  # Null is unchecked: messages are awaited, or the account has no root in the log
    awaited_ids: list[str] | None  # The awaited messages of the account
    has_data: bool | None
    is_set_shape: bool | None  # The data is an object with three arrays; otherwise `add` and `del` are ignored
    add: list[str] | None  # Item tokens (`columns.item_tokens`)
    del_: list[str] | None
    supersedes: list[str] | None  # The iterable entries of that field, whatever the shape of the other fields
    has_root: bool | None  # Whether the log has the root of the set, a usable moot


class Item(NamedTuple):
    """A present item."""

    item_position: Int32  # In the set, from 0
    item: str
    position_left: Int32 | None  # In the set after pruning
    kept_by: list[str]  # The messages that add it and have no descendant that adds or deletes it, ascending


class Fault(NamedTuple):
    """A rule for writers that a message breaks, see `writer_rules`."""

    item: str | None
    rule: str
    left_out_ids: list[str]  # Ascending


class NextItem(NamedTuple):
    """An item that the message adds or deletes last, and that another message can name."""

    item: str
    is_string: bool
    deepest: list[str]  # The messages on the item that are as deep as this one, ascending
    open_deletions: list[str]  # Those of them that delete it and are not superseded


class SetMessage(NamedTuple):
    """The entry, whether the message is in the set, and the result of the reduction; null for messages outside."""

    set_id: str
    message_id: str
    account: str | None
    domain: str | None
    is_moot: bool | None
    depth: Int64 | None
    has_data: bool | None
    awaited_ids: list[str] | None
    is_valid: bool  # Whether a peer with the known messages accepts the message
    reject_reason: str | None  # Null for a valid message
    is_held: bool  # In the set without being valid, see `validity`
    position: Int32 | None  # From 0; null in a set without root
    is_item_root: bool | None  # Whether all later messages leave the message standing
    is_item_root_by_document: bool | None  # Whether all other messages leave it standing
    purpose: str | None  # See `purposes`
    is_tip: bool | None  # No message lists it as previous; false in a set without root
    is_oldest_standing: bool | None  # The oldest live message of its set, see `oldest_live_message`
    items: list[Item] | None  # The present items that the message inserted, in set order
    writer_faults: list[Fault] | None
    are_writers_checked: bool | None  # False in a set that exceeds the bounds of that check, and then without faults
    action: str | None  # See `purposes.pruning_actions`
    is_pruning_safe: bool | None  # The set keeps its items if only item roots remain
    backlink_depth: Int64 | None  # Null at a depth without backlink
    is_next_prev: bool | None  # A message on top of all others must list it; false in a set without root
    next_items: list[NextItem] | None


INPUT_SCHEMA = schema_of(SetEntry)
#: The columns of the reduction alone.
_MESSAGE = schema_of(SetMessage)
OUTPUT_SCHEMA = pa.schema(list(_MESSAGE)[_MESSAGE.get_field_index("position") :])
