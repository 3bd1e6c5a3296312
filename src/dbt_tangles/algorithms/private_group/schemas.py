"""The Arrow columns that `reduce_groups` reads and returns."""

import pyarrow as pa

STRINGS = pa.list_(pa.string())
#: One row per valid message. The row of an init holds the secret of its epoch.
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
#: `row_kind` tells the kind of a row; columns of other kinds are null.
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
