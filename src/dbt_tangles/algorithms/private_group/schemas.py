"""The Arrow columns that `reduce_groups` reads and returns."""

import pyarrow as pa

STRINGS = pa.list_(pa.string())
#: One row per valid message:
#: group_id         the group that an init claims, or the group of the named epoch; null is none.
#: epoch_id         for an init its own `message_id`; for a statement the epoch that it names.
#: message_id       unique in its group.
#: kind             `root_init` (the root if its id is the group's), `epoch_init`, `add` or `exclude`.
#: previous_epochs  of an epoch init; a null within is an unknown epoch.
#: is_connected     whether an add is connected in the members tangle of its epoch (null is no).
#: feeds            that a statement names; a null within is ignored.
#: epoch_key        of an init, the 32 bytes of its secret. Keys compare as unsigned bytes, like their lower-case
#:                  hexadecimal forms; between equal keys the lesser epoch id comes first.
INPUT_SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("epoch_id", pa.string()),
        ("message_id", pa.string()),
        ("kind", pa.string()),
        ("previous_epochs", STRINGS),
        ("is_connected", pa.bool_()),
        ("feeds", STRINGS),
        ("epoch_key", pa.binary()),
    ]
)
EPOCH, MEMBER, DROPPED = "epoch", "member", "dropped"
#: `row_kind` tells the kind of a row; columns of other kinds are null. Rows of epochs:
#: depth                            the longest path from the root.
#: is_tip                           the epoch is not listed by another one.
#: is_preferred, preference         true for one epoch of each group, and the case it was chosen by; see `preference`.
#: tip_count                        of its group.
#: added_count, excluded_count      the feeds that adds and excludes name.
#: missing_count                    the feeds that are expected and not added, see `missing_adds`.
#: returned_count                   the feeds that are added although a strict ancestor excludes them. Peers report an
#:                                  epoch if either count is positive.
#: are_missing_listed               whether all missing feeds of its group have a row.
#: Rows of members, one per epoch and feed:
#: is_added, is_excluded            by a statement.
#: is_member                        by a connected add.
#: added_by, excluded_by            those statements, connected or not, by id.
#: is_missing, is_returned          whether the feed is counted above.
#: Rows of dropped feeds:
#: added_by                         of the adds that still stand in the epoch, the one to the last epoch by depth, then
#:                                  id.
#: excluded_by                      of the excludes in strict ancestors, the one in the last epoch. Of several messages
#:                                  with the same epoch and feed, the one with the least id.
OUTPUT_SCHEMA = pa.schema(
    [
        ("row_kind", pa.string()),
        ("group_id", pa.string()),
        ("epoch_id", pa.string()),
        ("depth", pa.int32()),
        ("is_tip", pa.bool_()),
        ("is_preferred", pa.bool_()),
        ("preference", pa.string()),
        ("tip_count", pa.int32()),
        ("added_count", pa.int32()),
        ("excluded_count", pa.int32()),
        ("missing_count", pa.int32()),
        ("returned_count", pa.int32()),
        ("are_missing_listed", pa.bool_()),
        ("feed_id", pa.string()),
        ("is_added", pa.bool_()),
        ("is_excluded", pa.bool_()),
        ("is_member", pa.bool_()),
        ("added_by", STRINGS),
        ("excluded_by", STRINGS),
        ("is_missing", pa.bool_()),
        ("is_returned", pa.bool_()),
    ]
)
